import type { MutantList } from './mutant.ts';

const [account, cells, header, libraries, links, list, listing, signatures] = [
  'service/proof/account-proof.ts',
  'service/proof/proof-cells.ts',
  'service/proof/header-proof.ts',
  'service/proof/library-proof.ts',
  'service/proof/shard-links.ts',
  'service/proof/transaction-list-proof.ts',
  'service/proof/block-transactions-proof.ts',
  'service/proof/signatures.ts',
];

/** Mutants of checks of answers. */
export const proof: MutantList = {
  tests: ['--project', 'service', 'test/service/proof/'],
  mutants: [
    { path: signatures, from: '3n * signedWeight <= 2n * totalWeight', to: '3n * signedWeight < 2n * totalWeight' },
    {
      path: signatures,
      from: "if (signed.has(key)) throw new ProofError('duplicate_signer', { subject, found: key });",
      to: '',
    },
    { path: signatures, from: 'if (!sameBlock(named, block)) throw', to: 'if (false) throw' },
    {
      path: signatures,
      from: 'session.catchainSeqno, set.catchainSeqno)',
      to: 'session.catchainSeqno, session.catchainSeqno)',
    },
    {
      path: signatures,
      from: 'session.validatorSetHash, set.validatorSetHash)',
      to: 'session.validatorSetHash, session.validatorSetHash)',
    },
    { path: signatures, from: 'slot >= 0 && slot <= 0xffff_ffff', to: 'slot >= 0' },
    { path: account, from: 'shardBlock.workchain !== workchain || !shardContains', to: '!shardContains' },
    { path: account, from: ' || !shardContains(shardBlock.shard, account)', to: '' },
    { path: account, from: 'if (!sameBlock(shardBlock, block)) {', to: 'if (false) {' },
    { path: account, from: "requireHash('accountState.state', shown, cell.table.hash(entry.account, 0));", to: '' },
    {
      path: account,
      from: "  if (entry === undefined) {\n    requireEmpty('accountState.state', answer.state);",
      to: '  if (entry === undefined) {',
    },
    { path: cells, from: 'if (table.hashEquals(cell, hash, 0)) return;', to: 'return;' },
    { path: cells, from: ', rootLevelMax: 0', to: '' },
    { path: header, from: '  requireField(`${subject} seqno`, id.seqno, info.seqno);\n', to: '' },
    { path: header, from: '1 + Math.max(...', to: '1 + Math.min(...' },
    { path: libraries, from: '!left.delete(', to: '!left.has(' },
    { path: links, from: 'if (!sameBlock(at, target)) {', to: 'if (false) {' },
    { path: list, from: '      requireField(`${subject} lt`, next.lt, lt);\n', to: '' },
    { path: list, from: 'block.workchain === workchain && ', to: '' },
    { path: listing, from: '    requireField(`${subject}.transactions`, ids.length, cells.length);\n', to: '' },
  ],
};
