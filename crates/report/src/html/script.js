"use strict";
(function () {
  var buttons = document.querySelectorAll("button[data-show]");
  var cards = document.querySelectorAll("details[data-class]");
  buttons.forEach(function (button) {
    button.addEventListener("click", function () {
      var wanted = button.dataset.show;
      buttons.forEach(function (other) {
        other.setAttribute("aria-pressed", String(other === button));
      });
      cards.forEach(function (card) {
        card.classList.toggle("hidden", wanted !== "all" && card.dataset.class !== wanted);
      });
    });
  });
  document.querySelectorAll("button[data-fold]").forEach(function (button) {
    button.addEventListener("click", function () {
      var open = button.dataset.fold === "open";
      document.querySelectorAll(button.dataset.of).forEach(function (one) {
        one.open = open;
      });
    });
  });
})();
