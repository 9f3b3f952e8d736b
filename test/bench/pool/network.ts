import { startNetwork } from '#test/service/pool/network.ts';
import { spoil } from '#test/service/pool/workload.ts';
import type { Answer, Order } from './remote-network.ts';

/** The lite servers of the benchmark in a process of their own: what they cost is not counted as the pool's. */
const [servers = '5'] = process.argv.slice(2);
const network = await startNetwork(Number(servers), { startBehindBlocks: 700 });

const tell = (answer: Answer): void => void process.send?.(answer);

process.on('message', (order: Order) => {
  if (order.kind === 'moveHead') network.moveHead(order.seqno);
  else void spoil(network, order.index, order.faults).then(() => tell({ done: order.id }));
});
process.on('disconnect', () => process.exit());

tell({
  liteServers: network.liteServers.map(({ host, port, publicKey }) => ({ host, port, publicKey })),
  headSeqno: network.head().id.seqno,
});
