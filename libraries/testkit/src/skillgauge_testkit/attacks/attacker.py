"""The program that tries to get out. It is given to an interpreter in the sandbox as text.

Arguments: the name of a function below, and what it works on. It says "tried" before it does anything, and "through"
with what it got if it got through; whatever else happens to it means that it was stopped. Everything it does is
bounded, since a sandbox that confines nothing will let it.
"""

import ctypes
import mmap
import os
import resource
import signal
import socket
import stat
import sys
import time
from contextlib import suppress

MIB = 1024 * 1024
NEW_NAMESPACE, NEW_CGROUP, NEW_USER, NEW_PID = 0x00020000, 0x02000000, 0x10000000, 0x20000000
MS_REMOUNT_BIND = 32 | 4096
PTRACE_ATTACH, PTRACE_DETACH = 16, 17
PATIENCE_S = 5.0

libc = ctypes.CDLL(None, use_errno=True)


def through(what: str) -> None:
    """Say what was got."""
    print("through:", what, flush=True)


def read(*paths: str) -> None:
    """Read files by their paths, and by links of both kinds."""
    for path in paths:
        for way, make in (("", None), ("soft", os.symlink), ("hard", os.link)):
            try:
                name = make.__name__ if make else path
                if make:
                    make(path, name)
                with open(name) as file:
                    through(f"read {way} {file.read(100)}")
            except OSError:
                continue


def write(*folders: str) -> None:
    """Make a file in folders."""
    for folder in folders:
        try:
            with open(f"{folder}/written", "w") as file:
                file.write("x")
            through(f"wrote to {folder}")
            os.unlink(f"{folder}/written")
        except OSError:
            continue


def connect(*addresses: str) -> None:
    """Exchange a word with servers; an address is `tcp:host:port`, `udp:host:port` or `unix:path`, @ for abstract."""
    for given in addresses:
        kind, _, rest = given.partition(":")
        host, _, port = rest.rpartition(":")
        family = socket.AF_UNIX if kind == "unix" else socket.AF_INET
        address = rest.replace("@", "\0", 1) if kind == "unix" else (host, int(port))
        with socket.socket(family, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM) as client:
            client.settimeout(PATIENCE_S if kind != "udp" else 1)
            try:
                client.connect(address)
                client.send(b"hello\n")
                through(f"{given} said {client.recv(100)!r}")
            except OSError:
                continue


def relay(api: str, proxy: str, goal: str) -> None:
    """Reach a service, `host:port`, through a relay that is for something else."""
    ways: list[tuple[str, str]] = []
    for place in (api, proxy):
        if place:
            at = place.removeprefix("http://")
            for ask in (
                f"CONNECT {goal} HTTP/1.1\r\nHost: {goal}\r\n\r\nhello\n",
                f"GET http://{goal}/ HTTP/1.1\r\nHost: {goal}\r\n\r\n",
                f"GET / HTTP/1.1\r\nHost: {goal}\r\n\r\n",
                f"GET /../../secret HTTP/1.1\r\nHost: {at}\r\n\r\n",
                f"GET /%2e%2e/secret HTTP/1.1\r\nHost: {at}\r\n\r\n",
                f"GET //{goal}/ HTTP/1.1\r\nHost: {at}\r\n\r\n",
                f"GET /@{goal}/ HTTP/1.1\r\nHost: {at}\r\n\r\n",
                *(
                    f"{method} /files/abc HTTP/1.1\r\nHost: {at}\r\n\r\n"
                    for method in ("TRACE", "DELETE", "PUT", "PATCH")
                ),
            ):
                ways.append((at, ask))
    if not ways:
        ways.append((goal, "hello\n"))
    for at, ask in ways:
        name, _, number = at.rpartition(":")
        received = b""
        try:
            with socket.create_connection((name, int(number)), timeout=PATIENCE_S) as client:
                client.settimeout(1)
                client.sendall(ask.encode())
                while piece := client.recv(1000):
                    received += piece
        except OSError:
            pass
        if b"canary" in received:
            through(f"{ask.splitlines()[0]} to {at} got {received!r}")


def daemon(program: str, seconds: str) -> None:
    """Leave a process behind that has nothing of its origin on it, and writes to a file while it lives."""
    beat = (
        "import sys, time\n"
        f"end = time.monotonic() + {float(seconds)}\n"
        "while time.monotonic() < end:\n"
        "    with open('beat', 'a') as file: file.write('x')\n"
        "    time.sleep(0.02)\n"
    )
    if os.fork():
        while not os.path.exists("beat"):
            time.sleep(0.01)
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):
        os.dup2(nowhere, fd)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.execve(program, [program, "-I", "-S", "-c", beat], {})


def see(token: str) -> None:
    """Find another process by its arguments."""
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if token[::-1].encode() in file.read():  # turned round, or these arguments would hold it
                    through(f"saw process {pid}")
        except OSError:
            continue


def kill(pid: str) -> None:
    """Kill a process by its number; whether that was the one is seen outside, once it had time to die."""
    os.kill(int(pid), signal.SIGKILL)
    with suppress(FileNotFoundError):
        until = time.monotonic() + PATIENCE_S
        while not is_dead(pid) and time.monotonic() < until:
            time.sleep(0.05)


def is_dead(pid: str) -> bool:
    """Tell whether a process has ended, and is only waited for."""
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] in "ZX"


def trace(pid: str) -> None:
    """Become the debugger of a process."""
    if libc.ptrace(PTRACE_ATTACH, int(pid), None, None) == 0:
        through(f"traced process {pid}")
        os.waitpid(int(pid), 0x40000000)
        libc.ptrace(PTRACE_DETACH, int(pid), None, None)


def secrets(pattern: str) -> None:
    """Find a key in whatever can be read of processes."""
    needle = pattern[::-1].encode()  # so that these arguments do not hold it
    for pid in ("self", *filter(str.isdecimal, os.listdir("/proc"))):
        for name in ("environ", "cmdline"):
            try:
                with open(f"/proc/{pid}/{name}", "rb") as file:
                    if needle in file.read():
                        through(f"{name} of {pid} holds the key")
            except OSError:
                continue


def bomb(allowed: str) -> None:
    """Make more processes than are allowed, after trying to raise every limit there is."""
    _raise_limits()
    limit = int(allowed)
    children: list[int] = []
    try:
        while len(children) < 3 * limit:
            child = os.fork()
            if not child:
                time.sleep(PATIENCE_S * 4)
                os._exit(0)
            children.append(child)
    except OSError:
        pass
    if len(children) > limit:
        through(f"{len(children)} processes at once")
    for child in children:
        os.kill(child, signal.SIGKILL)


def _raise_limits() -> None:
    for kind in (resource.RLIMIT_NPROC, resource.RLIMIT_DATA, resource.RLIMIT_FSIZE):
        for bound in (resource.RLIM_INFINITY, 1 << 30):
            try:
                resource.setrlimit(kind, (bound, bound))
            except (OSError, ValueError):
                continue
    if os.fork():
        os.wait()
        return
    # In namespaces of its own, a child may mount the control groups and look for limits to lift.
    try:
        _enter(NEW_USER | NEW_NAMESPACE | NEW_CGROUP)
        os.makedirs("groups", exist_ok=True)
        for system, data in ((b"cgroup", b"pids"), (b"cgroup", b"memory"), (b"cgroup2", None)):
            if libc.mount(b"none", b"groups", system, 0, data) == 0:
                for name in ("pids.max", "memory.max", "memory.limit_in_bytes"):
                    for value in ("max", "-1"):
                        try:
                            with open(f"groups/{name}", "w") as file:
                                file.write(value)
                        except OSError:
                            continue
    finally:
        os._exit(0)


def memory(limit_mb: str) -> None:
    """Use three times the memory that is allowed."""
    _raise_limits()
    held: list[bytes] = []
    try:
        for _ in range(3 * int(limit_mb) // 8):
            held.append(b"x" * (8 * MIB))
    except MemoryError:
        return
    through(f"{len(held) * 8} MiB of memory")


def large(limit_mb: str) -> None:
    """Write a file that is larger than allowed; most of it is a hole."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    _raise_limits()
    with open("large", "wb") as file:
        file.seek((int(limit_mb) + 1) * MIB)
        file.write(b"x")
    through(f"a file of {os.stat('large').st_size} bytes")


def flood(folder: str, limit_mb: str, patience_s: str) -> None:
    """Write three times what is allowed, in files that are small enough, and wait for what happens."""
    for number in range(3 * int(limit_mb)):
        with open(f"{folder}/flood{number}", "wb") as file:
            file.write(b"x" * MIB)
    _wait(patience_s)
    through(f"{3 * int(limit_mb)} MiB in {folder}")
    for number in range(3 * int(limit_mb)):
        os.unlink(f"{folder}/flood{number}")


def hoard(limit_mb: str, patience_s: str) -> None:
    """Write three times what is allowed to files that nobody can name: deleted ones, and ones with a path too long."""
    held = []
    for number in range(int(limit_mb) // 2):
        held.append(open(f"hoard{number}", "w+b", buffering=0))  # noqa: SIM115 - that they stay open is the point
        os.unlink(f"hoard{number}")
        held[-1].write(b"x" * 4 * MIB)
    for _ in range(25):
        os.mkdir("d" * 200)
        os.chdir("d" * 200)
    for number in range(int(limit_mb) // 4):
        with open(f"hoard{number}", "wb") as file:
            file.write(b"x" * 4 * MIB)
    _wait(patience_s)
    through(f"{3 * int(limit_mb)} MiB in files without a name")


def share(limit_mb: str, patience_s: str) -> None:
    """Use three times the memory that is allowed, all of it shared: mapped, and in files that lie in memory."""
    whole = 3 * int(limit_mb) * MIB
    try:
        shared = mmap.mmap(-1, whole // 2, flags=mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)
        for at in range(0, whole // 2, mmap.PAGESIZE):
            shared[at] = 1
        files = [os.memfd_create("x") for _ in range(whole // 2 // (4 * MIB))]
        for file in files:
            os.write(file, b"x" * 4 * MIB)
    except (MemoryError, OSError):
        return
    _wait(patience_s)
    through(f"{whole // MIB} MiB of shared memory")


def _wait(patience_s: str) -> None:
    end = time.monotonic() + float(patience_s)
    while time.monotonic() < end:
        time.sleep(0.05)


def burn(limit_s: str) -> None:
    """Use twice the processor time that is allowed."""
    signal.signal(signal.SIGXCPU, signal.SIG_IGN)
    while time.process_time() < 2 * float(limit_s) + 1:
        pass
    through(f"{time.process_time():.0f} s of processor time")


def settings() -> None:
    """Change a setting of the kernel, to the value that it has."""
    for folder in ("/proc/sys/vm", _proc_anew()):
        if folder:
            try:
                with open(f"{folder}/swappiness", "r+") as file:
                    value = file.read()
                    file.write(value)
                through(f"wrote to {folder}/swappiness")
            except OSError:
                continue


def _proc_anew() -> str | None:
    """Mount /proc once more, where nothing covers it."""
    try:
        os.makedirs("proc", exist_ok=True)
        _enter(NEW_USER | NEW_NAMESPACE | NEW_PID)
        if child := os.fork():
            os.waitpid(child, 0)
            os._exit(0)
        return "proc/sys/vm" if libc.mount(b"proc", b"proc", b"proc", 0, None) == 0 else None
    except OSError:
        return None


def _enter(namespaces: int) -> None:
    """Enter new namespaces, with every capability there."""
    user, group = os.getuid(), os.getgid()
    if libc.unshare(namespaces) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    for name, line in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(line)


def mount(shown: str, hidden: str) -> None:
    """Get write access to what may only be read, and read access to what is hidden, by mounting."""
    with suppress(OSError):
        _enter(NEW_USER | NEW_NAMESPACE)
    libc.umount2(shown.encode(), 2)
    libc.mount(None, shown.encode(), None, MS_REMOUNT_BIND, None)
    for place in ("/proc/1/root", "/proc/self/root", ""):
        write(place + shown)
        read(place + hidden)


def rights() -> None:
    """Tell whether a program with the setuid bit would give its rights."""
    with open("/proc/self/status") as file:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in file)
    if status["NoNewPrivs"].strip() == "0":
        through("programs may give it more rights")
    if int(status["CapEff"], 16) and os.getuid():
        through(f"capabilities {status['CapEff']}")


def devices() -> None:
    """Open a disk, or the memory of the machine."""
    for name in sorted(os.listdir("/dev")):
        path = f"/dev/{name}"
        try:
            mode = os.stat(path).st_mode
            if stat.S_ISBLK(mode) or name in ("mem", "kmem", "port", "kmsg"):
                os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
                through(f"opened {path}")
        except OSError:
            continue


if __name__ == "__main__":
    print("tried", flush=True)
    globals()[sys.argv[1]](*sys.argv[2:])
