/** A story in series, and whether the alert fires at a time in it. */
export type Story = {
  readonly alert: string;
  readonly title: string;
  /** Series -> values as promtool writes them, one a minute. */
  readonly series: Readonly<Record<string, string>>;
  readonly at: string;
  readonly firing: number;
};

const waiting = (values: string) => ({
  'ton_streaming_final_behind_seconds{namespace="ton",tonapi="mainnet",pod="p"}': values,
  'ton_streaming_final_behind_seconds{namespace="ton",tonapi="mainnet",pod="q"}': '0x60',
});
const slow = (aMinute: number, open: number) => ({
  'ton_streaming_slow_consumers_total{namespace="ton",tonapi="mainnet",pod="p"}': `0+${aMinute}x60`,
  'ton_streaming_connections{namespace="ton",tonapi="mainnet",pod="p",transport="ws",plan="free"}': `${open}x60`,
});
const missed = (blocks: string, resumes: string) => ({
  'ton_streaming_unclassified_blocks_total{namespace="ton",tonapi="mainnet",pod="p"}': blocks,
  'ton_streaming_resumes_total{namespace="ton",tonapi="mainnet",pod="p",result="none"}': resumes,
  'ton_streaming_resumes_total{namespace="ton",tonapi="mainnet",pod="p",result="full"}': '0+100x60',
});

const epochs = (process: string, shared: string) => ({
  'ton_streaming_levels_epochs_total{namespace="ton",tonapi="mainnet",pod="p",log="process"}': process,
  'ton_streaming_levels_epochs_total{namespace="ton",tonapi="mainnet",pod="p",log="shared"}': shared,
});

/** Stories of the alerts on streams. */
export const streamStories: readonly Story[] = [
  { alert: 'TonApiStreamsLagging', title: 'a block waits', series: waiting('0x5 0+60x30'), at: '15m', firing: 1 },
  {
    alert: 'TonApiStreamsLagging',
    title: 'a block waits a minute',
    series: waiting('0 0 30 60 1x60'),
    at: '6m',
    firing: 0,
  },
  { alert: 'TonApiStreamsSlowConsumers', title: 'a third in ten minutes', series: slow(30, 900), at: '20m', firing: 1 },
  { alert: 'TonApiStreamsSlowConsumers', title: 'bad clients of many', series: slow(30, 9000), at: '20m', firing: 0 },
  { alert: 'TonApiStreamsSlowConsumers', title: 'one bad client', series: slow(1, 5), at: '20m', firing: 0 },
  {
    alert: 'TonApiStreamsGap',
    title: 'a block without actions',
    series: missed('0x9 1x60', '0x60'),
    at: '12m',
    firing: 1,
  },
  { alert: 'TonApiStreamsGap', title: 'many return too late', series: missed('0x60', '1+5x60'), at: '20m', firing: 1 },
  {
    alert: 'TonApiStreamsGap',
    title: 'some return after days',
    series: missed('0x60', '1+1x60'),
    at: '20m',
    firing: 0,
  },
  {
    alert: 'TonApiStreamsLogChanged',
    title: 'Redis is away for a minute',
    series: epochs('0x9 1x60', '1x10 2x60'),
    at: '15m',
    firing: 1,
  },
  {
    alert: 'TonApiStreamsLogChanged',
    title: 'Redis lost its data',
    series: epochs('0x60', '1x9 2x60'),
    at: '12m',
    firing: 1,
  },
  { alert: 'TonApiStreamsLogChanged', title: 'a pod started', series: epochs('0x60', '1x60'), at: '12m', firing: 0 },
];
