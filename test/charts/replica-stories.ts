import type { Story } from './stream-stories.ts';

const lag = (values: string) => ({
  'ton_store_replica_lag_seconds{namespace="ton",tonapi="mainnet",pod="p"}': values,
  'ton_store_replica_lag_seconds{namespace="ton",tonapi="mainnet",pod="q"}': '0x60',
});
const reads = (all: number, bypassed: number) => ({
  'ton_store_reads_total{namespace="ton",tonapi="mainnet",pod="p",outcome="ok"}': `0+${all}x60`,
  'ton_store_replica_bypasses_total{namespace="ton",tonapi="mainnet",pod="p",reason="failed"}': `0+${bypassed}x60`,
});

/** Stories of the alert on the read replica. */
export const replicaStories: readonly Story[] = [
  { alert: 'TonApiReplicaLagging', title: 'replay is paused', series: lag('0+60x60'), at: '20m', firing: 1 },
  { alert: 'TonApiReplicaLagging', title: 'it catches up', series: lag('0 0 60 90 20 0x60'), at: '7m', firing: 0 },
  { alert: 'TonApiReplicaLagging', title: 'it is down', series: reads(600, 600), at: '20m', firing: 1 },
  { alert: 'TonApiReplicaLagging', title: 'some queries give way', series: reads(600, 6), at: '20m', firing: 0 },
];
