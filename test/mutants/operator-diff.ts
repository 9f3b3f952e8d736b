import type { MutantList } from './mutant.ts';

const [adoption, compare, diff, drift, ignored, lists, quantity, unset] = [
  'operator/diff/adoption.ts',
  'operator/diff/compare.ts',
  'operator/diff/diff.ts',
  'operator/diff/drift.ts',
  'operator/diff/ignored.ts',
  'operator/kubernetes/keyed-lists.ts',
  'operator/diff/quantity.ts',
  'operator/diff/unset.ts',
];

/** Mutants of the comparison of wanted and live objects. */
export const operatorDiff: MutantList = {
  tests: ['--project', 'operator', 'test/operator/diff/'],
  mutants: [
    { path: adoption, from: 'controller?.uid === ownerUid', to: 'controller !== undefined' },
    { path: adoption, from: "=== 'true'", to: '!== undefined' },
    { path: compare, from: 'live === undefined && isDropped(desired', to: 'isDropped(desired' },
    { path: lists, from: "keys: ['containerPort', 'protocol']", to: "keys: ['containerPort']" },
    { path: compare, from: 'if (!isOfResource && !amounts.test(path)) return false;', to: '' },
    { path: unset, from: '!textOfMap.test(path)', to: 'true' },
    { path: compare, from: 'found.has(key) ? withLiveFields', to: 'true ? withLiveFields' },
    { path: diff, from: 'return [...first, ...written, ...last];', to: 'return [...written, ...first, ...last];' },
    { path: diff, from: "live.kind === 'Job' && !adopt", to: "live.kind === 'Job'" },
    { path: diff, from: '.filter(({ path }) => path !== hashPath)', to: '' },
    { path: diff, from: "cause: isEdit ? 'edit' : 'drift'", to: "cause: 'edit'" },
    { path: diff, from: 'replicas === 0 ? fixedReplicas(tonApi) : replicas', to: 'replicas' },
    { path: diff, from: "tonApi.metadata.uid || object.kind === 'Job'", to: 'tonApi.metadata.uid' },
    { path: diff, from: 'if (object.metadata.deletionTimestamp !== undefined) return false;', to: '' },
    { path: diff, from: "path.startsWith('spec.template')", to: "path.startsWith('spec')" },
    { path: diff, from: "kind !== 'Secret' || ", to: '' },
    { path: drift, from: ' && entry.manager !== handoverManager', to: '' },
    { path: drift, from: "entry.subresource !== 'status' && ", to: '' },
    { path: ignored, from: 'ignored.kind === kind && ', to: '' },
    { path: quantity, from: '(above + below - 1n) / below', to: 'above / below' },
  ],
};
