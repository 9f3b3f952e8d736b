import { volume } from './volume.ts';

/** Test files that check one kind of thing in several ways. */
export type RepeatedKind = {
  readonly kind: string;
  /** Files that `npm test` runs. */
  readonly quick: readonly string[];
  /** Files that the volume `full` adds. */
  readonly more: readonly string[];
};

/** Kinds whose files are dear: an entry saves a quick run seconds of CPU. */
export const repeatedKinds: readonly RepeatedKind[] = [
  {
    kind: 'an API with pods in a cluster',
    quick: ['test/e2e/operator-life.cluster.test.ts'],
    more: [
      'test/charts/installed.cluster.test.ts',
      'test/charts/rights.cluster.test.ts',
      'test/charts/umbrella.cluster.test.ts',
      'test/charts/upgraded.cluster.test.ts',
      'test/e2e/canary.cluster.test.ts',
      'test/e2e/index.cluster.test.ts',
      'test/e2e/operator.cluster.test.ts',
      'test/e2e/restored-key.cluster.test.ts',
      'test/e2e/upgrade.cluster.test.ts',
    ],
  },
  {
    kind: 'an operator beside an API server that fails or changes',
    quick: ['test/operator/reconcile/tonapi.cluster.test.ts'],
    more: [
      'test/operator/kubernetes/elector.cluster.test.ts',
      'test/operator/kubernetes/informer.cluster.test.ts',
      'test/operator/reconcile/drift.cluster.test.ts',
      'test/operator/reconcile/faults.cluster.test.ts',
      'test/operator/status/never-green.cluster.test.ts',
    ],
  },
  {
    kind: 'the recorded chain as rows of the index',
    quick: ['test/service/indexer/traces/assembly.test.ts', 'test/service/indexer/crash.store.test.ts'],
    more: [
      'test/service/indexer/faults.store.test.ts',
      'test/service/indexer/recorded-chain.store.test.ts',
      'test/service/indexer/rows/account-states.test.ts',
      'test/service/indexer/rows/rows.test.ts',
      'test/service/indexer/sources.test.ts',
    ],
  },
  {
    kind: 'the recorded chain as actions',
    quick: ['test/service/interpreter/recorded-chain.store.test.ts'],
    more: [
      'test/service/interpreter/crash.store.test.ts',
      'test/service/interpreter/uninterpretable.store.test.ts',
      'test/service/interpreter/stored-traces.store.test.ts',
      'test/e2e/v3-actions.store.test.ts',
      'test/service/actions/engine/event-transaction.test.ts',
      'test/service/interpreter/orders.store.test.ts',
    ],
  },
  {
    kind: 'the recorded chain as answers of v3',
    quick: ['test/e2e/v3-traces.store.test.ts', 'test/e2e/v3-ledger.store.test.ts'],
    more: [
      'test/e2e/v3-accounts.store.test.ts',
      'test/e2e/v3-contracts.store.test.ts',
      'test/e2e/v3-legacy.store.test.ts',
      'test/e2e/v3-tokens.store.test.ts',
      'test/service/v3/rendering/stored-transactions.store.test.ts',
      'test/service/v3/rendering/trace-materializer.store.test.ts',
      'test/service/v3/views/transaction-views.test.ts',
    ],
  },
  {
    kind: 'the recorded chain as a stream',
    quick: ['test/e2e/streaming.store.test.ts'],
    more: [
      'test/e2e/streaming-confirmed.store.test.ts',
      'test/e2e/streaming-jettons.store.test.ts',
      'test/e2e/streaming-role.store.test.ts',
      'test/service/streaming/final/block-source.store.test.ts',
      'test/service/streaming/final/touched.store.test.ts',
      'test/service/streaming/recorded-levels.store.test.ts',
      'test/service/streaming/final/portions.store.test.ts',
      'test/service/streaming/final/recorded-changes.store.test.ts',
    ],
  },
  {
    kind: 'streams of three pods',
    quick: ['test/e2e/streaming-faults.store.test.ts'],
    more: ['test/e2e/streaming-load.store.test.ts'],
  },
  {
    kind: 'queries of the index beside a model',
    quick: ['test/service/store/queries/transactions.test.ts'],
    more: [
      'test/service/store/queries/actions.test.ts',
      'test/service/store/queries/messages.test.ts',
      'test/service/store/queries/nfts.test.ts',
      'test/service/store/queries/times.test.ts',
    ],
  },
  {
    kind: 'processes that share one Redis',
    quick: ['test/service/limits/redis/shared-limits.test.ts'],
    more: [
      'test/service/limits/redis/cluster.test.ts',
      'test/e2e/limits.redis.test.ts',
      'test/e2e/namespaces.redis.test.ts',
      'test/service/limits/redis/malformed.test.ts',
      'test/service/limits/redis/revocation-set.test.ts',
      'test/service/limits/redis/sentinel.test.ts',
      'test/service/pool/redis/pods.test.ts',
    ],
  },
  {
    kind: 'processes of the service with Postgres',
    quick: ['test/e2e/postgres-states.store.test.ts'],
    more: [
      'test/e2e/index-lost.store.test.ts',
      'test/e2e/index-start.store.test.ts',
      'test/e2e/client-certificates.store.test.ts',
      'test/e2e/index-watch.store.test.ts',
      'test/e2e/indexer.store.test.ts',
      'test/e2e/migrate.store.test.ts',
      'test/e2e/postgres-replica.store.test.ts',
      'test/e2e/postgres-standby.store.test.ts',
      'test/e2e/postgres-upgrade.store.test.ts',
      'test/e2e/shared-cells.store.test.ts',
      'test/e2e/surfaces.store.test.ts',
    ],
  },
  {
    kind: 'a private network that a process stores',
    quick: ['test/e2e/stored-network.test.ts'],
    more: [
      'test/e2e/dev-command.test.ts',
      'test/e2e/fork-libraries.test.ts',
      'test/e2e/fork.test.ts',
      'test/e2e/startup-accounts.test.ts',
      'test/e2e/stored-fork.test.ts',
      'test/service/devchain/storage/persisted-network.test.ts',
    ],
  },
  {
    kind: 'clients of others',
    quick: ['test/e2e/v2-clients.test.ts', 'test/service/devchain/tonlib.test.ts'],
    more: [
      'test/e2e/emulate-walletkit.store.test.ts',
      'test/service/devchain/tonlib-private.test.ts',
      'test/e2e/tonutils-go.test.ts',
      'test/e2e/developer-clients.test.ts',
      'test/e2e/private-network-clients.test.ts',
      'test/e2e/v2-peer.test.ts',
      'test/service/devchain/tonutils-private.test.ts',
    ],
  },
  {
    kind: 'pages in a browser',
    quick: ['test/e2e/explorer.test.ts'],
    more: [
      'test/e2e/explorer-pending.test.ts',
      'test/e2e/explorer-screens.test.ts',
      'test/e2e/start-page.test.ts',
      'test/e2e/streaming-browser.test.ts',
    ],
  },
  {
    kind: 'lite servers that fail',
    quick: ['test/service/pool/faults.test.ts'],
    more: ['test/service/pool/recovery.test.ts'],
  },
  {
    kind: 'the cluster of the tests',
    quick: ['test/support/control-plane.cluster.test.ts'],
    more: ['test/support/metrics-api.cluster.test.ts', 'test/support/process-kubelet.cluster.test.ts'],
  },
  {
    kind: 'emulations beside the chain',
    quick: ['test/e2e/emulate-journeys.store.test.ts', 'test/e2e/emulate-fuzz.test.ts'],
    more: [
      'test/e2e/emulate-recorded.store.test.ts',
      'test/e2e/emulate-then-send.store.test.ts',
      'test/e2e/returned-jettons.store.test.ts',
    ],
  },
  {
    kind: 'a private network of many transactions',
    quick: ['test/service/devchain/replay.test.ts'],
    more: ['test/service/devchain/load.test.ts'],
  },
  {
    kind: 'rows that change at splits, merges and edits of accounts',
    quick: ['test/e2e/account-edits.store.test.ts'],
    more: ['test/e2e/v3-split-merge.store.test.ts'],
  },
  {
    kind: 'rules of the code, all of which npm run check checks',
    quick: ['test/style/imports.test.ts'],
    more: [
      'test/style/change-walks.test.ts',
      'test/style/english.test.ts',
      'test/style/interpretation-versions.test.ts',
      'test/style/lengths.test.ts',
    ],
  },
  {
    kind: 'programs of the build',
    quick: ['test/e2e/bundle.test.ts'],
    more: ['test/operator/kubectl/plugin.cluster.test.ts'],
  },
];

/** True for `vitest run` without a file, a project or another choice: a chosen file always runs. */
const isWholeRun = process.argv.slice(2).every((argument) => /^run$|^--(reporter|coverage)/.test(argument));

/** Files that this run leaves out, because another file of their kind runs. */
export const leftOut: readonly string[] =
  volume === 'quick' && isWholeRun ? repeatedKinds.flatMap(({ more }) => more) : [];
