const { AssetsSDK, NoopStorage, importKey } = require('@ton-community/assets-sdk');
const { TonClient, WalletContractV4 } = require('@ton/ton');
const { toNano } = require('@ton/core');

const [endpoint, words] = process.argv.slice(2);
const client = new TonClient({ endpoint });
const api = {
  open: (contract) => client.open(contract),
  provider: (address, init) => client.provider(address, init ?? null),
};

async function deployed(address) {
  for (let tries = 0; tries < 100 && !(await client.isContractDeployed(address)); tries++) {
    await new Promise((done) => setTimeout(done, 100));
  }
}

async function main() {
  const { publicKey, secretKey } = await importKey(words);
  const wallet = client.open(WalletContractV4.create({ workchain: 0, publicKey }));
  const sender = { ...wallet.sender(secretKey), address: wallet.address };
  const sdk = AssetsSDK.create({ api, sender, storage: new NoopStorage() });
  const options = {
    onchainContent: true,
    adminAddress: wallet.address,
    premintAmount: toNano('100'),
    value: toNano('0.5'),
  };
  const jetton = await sdk.deployJetton(
    { name: 'Assets', symbol: 'AST', decimals: 9, description: 'made by a test' },
    options,
  );
  await deployed(jetton.address);
  const own = await jetton.getWallet(wallet.address);
  await deployed(own.address);
  const { name } = await jetton.getContent();
  const { balance } = await own.getData();
  process.stdout.write(JSON.stringify({ jetton: jetton.address.toRawString(), name, balance: balance.toString() }));
}

main().catch((error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exitCode = 1;
});
