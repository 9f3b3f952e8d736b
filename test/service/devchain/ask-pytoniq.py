"""Reads a network with pytoniq, which proves every block from the configuration's block on (trust level 0); the answer goes to standard output as JSON."""

import asyncio
import json
import sys

from pytoniq import LiteClient


async def main() -> None:
    given = json.load(sys.stdin)
    client = LiteClient.from_config(given["config"], 0, trust_level=0, timeout=30)
    await client.connect()
    try:
        block = client.last_mc_block
        account, shard_account = await client.raw_get_account_state(given["wallet"], block)
        transactions = await client.get_transactions(given["wallet"], 10) if given["transactions"] else []
        seqno = await client.run_get_method(given["wallet"], "seqno", [], block)
        print(
            json.dumps(
                {
                    "seqno": block.seqno,
                    "rootHash": block.root_hash.hex(),
                    "balance": str(account.storage.balance.grams),
                    "transactions": [one.cell.hash.hex() for one in transactions],
                    "method": seqno,
                }
            )
        )
    finally:
        await client.close()


asyncio.run(main())
