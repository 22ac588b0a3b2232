"""Runs inside, given to the interpreter as text: hands out listening sockets, then becomes the command.

Arguments: the file descriptor of the channel, the ports divided by commas, and the command.
"""

import _socket  # half of the time that `socket` takes to import
import os
import sys


def main() -> None:
    """Hand out the sockets, wait until they are taken, become the command."""
    channel = _socket.socket(fileno=int(sys.argv[1]))
    listeners = []
    for port in sys.argv[2].split(","):
        listener = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
        listener.bind(("127.0.0.1", int(port)))
        listener.listen(128)
        listeners.append(listener)
    handles = b"".join(listener.fileno().to_bytes(4, sys.byteorder) for listener in listeners)
    channel.sendmsg([b"?"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, handles)])
    answered = channel.recv(1)
    for connection in (channel, *listeners):
        connection.close()
    if answered:
        os.execvp(sys.argv[3], sys.argv[3:])
    sys.exit("skillgauge: the relay is gone")


if __name__ == "__main__":
    main()
