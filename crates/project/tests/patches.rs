//! What lies between two revisions, read from a repository.

mod support;

use parallax_project::revision::Selected;
use parallax_project::{Project, Selection};
use support::Folder;

/// The last commit of a project.
fn last_commit(folder: &Folder) -> (Project, Selected) {
    let project = folder.find();
    let selected = project.select(&Selection::Words("HEAD~1..HEAD".to_owned()));
    let selected = selected.unwrap();
    (project, selected)
}

#[test]
fn files_are_read_to_their_last_byte() {
    for (old, new) in [("a\nb", "a\nc"), ("a\n", "a"), ("a", "a\n\n"), ("", "a\n")] {
        let folder = Folder::repository();
        folder.write("text.c", old);
        folder.commit("old");
        folder.write("text.c", new);
        folder.commit("new");
        let (project, selected) = last_commit(&folder);
        let (repository, before) = (project.repository.unwrap(), selected.old.unwrap());
        let modified = repository.modified(&before, &selected.new).unwrap();
        let texts: Vec<(&[u8], &[u8])> = modified
            .iter()
            .map(|file| (&file.old[..], &file.new[..]))
            .collect();
        assert_eq!(texts, [(old.as_bytes(), new.as_bytes())]);
        let patch = repository.patch(&before, &selected.new, &|_| true).unwrap();
        for (hunks, expected) in [((0..patch.hunks.len()).collect(), new), ([].into(), old)] {
            let texts: Vec<_> = patch.with(&hunks).collect();
            assert_eq!(texts, [("text.c", Some(expected.as_bytes().to_vec()))]);
        }
    }
}
