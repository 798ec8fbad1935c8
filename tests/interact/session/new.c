/* Requests in words: "open", "close" and "send", each ended by a comma. Says how many were answered. The version after the change:
   connections are given back. Who sends after closing, without opening again, uses a connection that is none. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

static int connection, answered;
static char room[8];

static int word(const char **at, const char *wanted)
{
  size_t length = strlen(wanted);
  if (strncmp(*at, wanted, length) != 0 || (*at)[length] != ',')
    return 0;
  *at += length + 1;
  return 1;
}

static void open_connection(void)
{
  connection = connection < 0 ? -connection : connection + 1;
}

static void close_connection(void)
{
  connection = -connection;
  answered++;
}

static void send_data(void)
{
  if (connection != 0) {
    assert(connection > 0);
    room[connection % 8]++;
    answered++;
  }
}

int main(int argc, char **argv)
{
  const char *at = argc > 1 ? argv[1] : "";
  while (*at != '\0') {
    if (word(&at, "open"))
      open_connection();
    else if (word(&at, "close"))
      close_connection();
    else if (word(&at, "send"))
      send_data();
    else
      break;
  }
  printf("%d answered\n", answered);
  return 0;
}
