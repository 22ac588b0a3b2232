"""Lets processes without a network reach model APIs and allowed hosts, while keys stay outside.

Inside, a few lines of Python (`inside`) run in front of each command. They open sockets that listen on the loopback
address of the sandbox and hand them out, so that what accepts connections on them is this side: no process of ours
stays within, and there is no socket file to be found there. Outside, `Relay` serves those sockets.
"""

from .meter import RelayLimits
from .relay import Relay

__all__ = ["Relay", "RelayLimits"]
