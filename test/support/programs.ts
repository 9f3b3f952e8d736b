import { join } from 'node:path';

import { projectRoot } from './service-flags.ts';

const isBuilt = process.env['TONPLANE_PROGRAMS'] === 'built';

/** Modules that processes run: of the bundle in tests ([bundle-setup](bundle-setup.ts) builds it), of the sources elsewhere. */
export const serviceProgram = join(projectRoot, isBuilt ? 'dist/main.js' : 'service/main.ts');
export const operatorProgram = join(projectRoot, isBuilt ? 'dist/operator.js' : 'operator/main.ts');
