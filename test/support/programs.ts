import { join } from 'node:path';

import { projectRoot } from './service-flags.ts';

const isBuilt = process.env['TONPLANE_PROGRAMS'] === 'built';

/** Path of the service's program in a folder of the project. */
export const servicePath = isBuilt ? 'dist/main.js' : 'service/main.ts';

/** Modules that processes run. In tests they are the bundle, which [bundle-setup](bundle-setup.ts) builds; elsewhere the sources. */
export const serviceProgram = join(projectRoot, servicePath);
export const operatorProgram = join(projectRoot, isBuilt ? 'dist/operator.js' : 'operator/main.ts');
