import asyncio
import json
import sys

from ton_core import JettonMasterStablecoinData, NetworkGlobalID, OffchainContent, to_nano
from tonutils.clients import ToncenterClient
from tonutils.contracts import JettonMasterStablecoinV2, JettonWalletStablecoinV2, WalletV4R2

url, words = sys.argv[1:3]


async def main():
    client = ToncenterClient(NetworkGlobalID.MAINNET, base_url=f"{url}/api/v2", rps_limit=100)
    await client.connect()
    try:
        made = WalletV4R2.from_mnemonic(client, words)
        wallet = made[0] if isinstance(made, tuple) else made
        await wallet.refresh()
        data = JettonMasterStablecoinData(
            admin_address=wallet.address,
            jetton_wallet_code=JettonWalletStablecoinV2.get_default_code(),
            content=OffchainContent("https://demo.tonplane.invalid/stablecoin.json"),
        )
        master = JettonMasterStablecoinV2.from_data(client, data.serialize())
        await wallet.transfer(
            destination=master.address, amount=to_nano("0.1"), state_init=master.state_init, bounce=False
        )
        for _ in range(100):
            await master.refresh()
            if master.is_active:
                break
            await asyncio.sleep(0.1)
        print(json.dumps({"master": master.address.to_str(is_user_friendly=False)}))
    finally:
        await client.close()


asyncio.run(main())
