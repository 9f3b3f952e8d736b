import type { Logger } from 'pino';

import type { ServiceConfig } from '#service/config.ts';
import { operationNamed, similarOperations } from '#service/config/operation-names.ts';

/** Warns of costs that no request pays, because no operation has the name. A refusal would stop deployments that run with one. */
export function warnOfUnknownOperations({ plans }: Pick<ServiceConfig, 'plans'>, logger: Logger): void {
  for (const { name: plan, methodCosts } of plans) {
    for (const method of Object.keys(methodCosts)) {
      if (operationNamed(method) !== undefined) continue;
      logger.warn(
        { plan, method, similar: similarOperations(method) },
        'no operation has the name in methodCosts of the plan, and its cost has no effect',
      );
    }
  }
}
