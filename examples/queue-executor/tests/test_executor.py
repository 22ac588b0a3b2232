"""Only workers with the token are let in."""

import asyncio

from skillgauge_testkit import EXECUTORS, Maker


def test_a_worker_without_the_token_gets_no_recipe() -> None:
    """Its connection is closed, and nothing was said."""

    async def said() -> bytes:
        queue = Maker(EXECUTORS, "acme_queue.plugin")({"workers": 0}).queue
        queue.recipe = b"options of plugins"
        queue._opening = asyncio.create_task(queue._open())
        await queue._opening
        host, port = queue.address.split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"a guess\n")
        answer = await reader.read()
        writer.close()
        await queue.close()
        return answer

    assert asyncio.run(said()) == b""
