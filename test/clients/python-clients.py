import asyncio
import json
import sys

from ton_core import NetworkGlobalID, to_nano
from toncenter.rest import ToncenterRestClient
from tonutils.clients import ToncenterClient
from tonutils.contracts import WalletV4R2, WalletV5R1

url, words, receiver, owner = sys.argv[1:5]


async def with_tonutils():
    client = ToncenterClient(NetworkGlobalID.MAINNET, base_url=f"{url}/api/v2", rps_limit=100)
    await client.connect()
    try:
        for kind in (WalletV5R1, WalletV4R2):
            made = kind.from_mnemonic(client, words)
            wallet = made[0] if isinstance(made, tuple) else made
            await wallet.refresh()
            await wallet.transfer(destination=receiver, amount=to_nano(1), body="from tonutils")
            for _ in range(100):
                if await seqno(client, wallet) > 0:
                    break
                await asyncio.sleep(0.1)
        info = await client.get_info(receiver)
        return {"balance": info.balance}
    finally:
        await client.close()


async def seqno(client, wallet):
    stack = await client.run_get_method(wallet.address.to_str(), "seqno")
    return int(stack[0])


async def with_toncenter():
    async with ToncenterRestClient("", base_url=url) as client:
        head = await client.v2.blocks.get_masterchain_info()
        account = await client.v2.accounts.get_address_information(receiver)
        wallets = await client.v3.jettons.get_jetton_wallets(owner_address=[owner])
        actions = await client.v3.actions.get_actions(account=receiver)
        return {
            "seqno": head.last.seqno,
            "balance": int(account.balance),
            "jettons": [wallet.balance for wallet in wallets.jetton_wallets],
            "actions": [action.type for action in actions.actions],
        }


async def main():
    print(json.dumps({"tonutils": await with_tonutils(), "toncenter": await with_toncenter()}))


asyncio.run(main())
