import { hash } from 'node:crypto';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

// @ton/core hashes cells with SHA-256 in JavaScript, a third of the CPU of tests that compare with @ton/core. OpenSSL is 20 times quicker.

const require = createRequire(import.meta.url);
const primitives = require(join(dirname(require.resolve('@ton/crypto')), 'primitives/sha256.js')) as {
  sha256_sync: (source: Buffer | string) => Buffer;
};

primitives.sha256_sync = (source) => hash('sha256', source, 'buffer');
