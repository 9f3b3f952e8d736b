/** Tests that use Postgres or Redis. Their project starts both servers once for a run. */
export const onStores = [
  'test/support/**/!(*.cluster).test.ts',
  'test/service/store/**/*.test.ts',
  'test/service/indexer/**/*.store.test.ts',
  'test/service/interpreter/**/*.store.test.ts',
  'test/service/metadata/**/*.store.test.ts',
  'test/service/limits/redis/!(faults).test.ts',
  'test/service/pending/**/*.redis.test.ts',
  'test/service/pool/redis/!(pods).test.ts',
  'test/service/v3/**/*.store.test.ts',
  'test/service/streaming/**/*.{redis,store}.test.ts',
  'test/e2e/**/*.{redis,store}.test.ts',
];

/** Tests on a Kubernetes control plane. */
export const onControlPlane = ['test/**/*.cluster.test.ts'];

/** Unit tests that patch timers, modules or the environment. Each file has its own thread, because a patch changes all modules of a thread. */
export const apart = [
  'test/service/**/heartbeat.test.ts',
  'test/service/**/legacy-send.test.ts',
  'test/service/metadata/http-get.test.ts',
  'test/service/**/refusal-throttle.test.ts',
  'test/service/**/status-line.test.ts',
  'test/service/pool/{admission-queue,attempts,flapping}.test.ts',
];

/** Tests whose checks depend on real time: deadlines, hedges, failovers. They run last, two at a time, because a busy machine delays them past these. */
export const timed = [
  'test/e2e/v2-fuzz.test.ts',
  'test/service/http/{early-refusal,lifecycle}.test.ts',
  'test/service/limits/redis/faults.test.ts',
  'test/service/limits/keyring.test.ts',
  'test/service/live/{archive,block-forgeries,forgeries,transaction-faults}.test.ts',
  'test/service/live/accounts/live-accounts.test.ts',
  'test/service/live/contracts/get-methods.test.ts',
  'test/service/tvm/tvm.test.ts',
  'test/service/liteserver/{lite-engine,liteserver,observability}.test.ts',
  'test/service/pool/{broadcast,depth,depth-choice,faults,forgeries,laboratory}.test.ts',
  'test/service/pool/{pool,recovery,roster,saturation,use}.test.ts',
  'test/service/pool/redis/pods.test.ts',
];
