import { describe, expect, it } from 'vitest';

import { describeDev } from '#service/devchain/dev/openapi.ts';
import { methodRows } from '#service/devchain/dev/method-table.ts';
import {
  methodsByPart,
  methodsOf,
  parametersOf,
  type DevDocument,
  type DevMethod,
} from '#service/explorer/app/network/dev-methods.ts';

const methods = methodsOf(describeDev('1') as DevDocument);

function methodNamed(name: string): DevMethod {
  const found = methods.find((method) => method.name === name);
  if (found === undefined) throw new Error(`no method ${name}`);
  return found;
}

const fields = (given: Record<string, string>) => new Map(Object.entries(given));

describe('the forms of the private network', () => {
  it('are made of every method of the document', () => {
    expect(methods.map(({ name }) => name)).toEqual(Object.keys(methodRows));
    const irreversible = methods.filter(({ cannotBeUndone }) => cannotBeUndone).map(({ name }) => name);
    expect(irreversible).toContain('dev_revert');
    expect(irreversible).not.toContain('dev_mine');
  });

  it('are each in one part, but for the methods that the page itself calls', () => {
    const placed = [...methodsByPart(methods).values()].flat().map(({ name }) => name);
    const shown = Object.keys(methodRows).filter((name) => !['dev_status', 'dev_snapshots'].includes(name));
    expect(placed.toSorted()).toEqual(shown.toSorted());
  });

  it('send fields by their types, and leave empty fields out', () => {
    expect(parametersOf(methodNamed('dev_mine'), fields({ blocks: ' 3 ' }))).toEqual({ blocks: 3 });
    expect(parametersOf(methodNamed('dev_mine'), fields({ blocks: '' }))).toEqual({});
    expect(parametersOf(methodNamed('dev_mine'), fields({ blocks: 'three' }))).toEqual({ blocks: 'three' });
    const sent = { from: '0:A', to: '0:B', amount: '1.5', body: '', bounce: 'false' };
    expect(parametersOf(methodNamed('dev_sendInternal'), fields(sent))).toEqual({
      from: '0:A',
      to: '0:B',
      amount: '1.5',
      bounce: false,
    });
  });
});
