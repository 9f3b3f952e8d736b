import type { MutantList } from './mutant.ts';

const order = 'service/store/queries/order.ts';

/** Mutants of the order of lists and of cursors. */
export const storeOrder: MutantList = {
  tests: ['--project', 'stores', 'test/service/store/queries/order-rows.test.ts'],
  mutants: [
    { path: order, from: 'if (!passes2038) return order;', to: 'return order;' },
    { path: order, from: "key.type === 'utime' ?", to: "key.type === 'integer' ?" },
    {
      path: order,
      from: 'isUnsigned === true ? unsignedTime(`${alias}',
      to: 'isUnsigned === false ? unsignedTime(`${alias}',
    },
    { path: order, from: '${sortedBy(key, alias)} ${key.sort}', to: '${sortedBy(key, alias)} asc' },
    { path: order, from: 'if (after === undefined) return;', to: 'return;' },
    { path: order, from: 'elsewhere[key.column] ?? sortedBy', to: 'sortedBy' },
    { path: order, from: 'nullable !== true && sort === keys[0]?.sort', to: 'nullable !== true' },
    { path: order, from: "{ asc: '>', desc: '<' }", to: "{ asc: '>=', desc: '<=' }" },
    { path: order, from: 'isNull ? `${name} IS NULL` : `${name} = ${at}`', to: '`${name} = ${at}`' },
    { path: order, from: "parts.join(' OR ')", to: "parts.join(' AND ')" },
    { path: order, from: "sort === 'desc' ? `${name} IS NOT NULL` : 'false'", to: "'false'" },
    { path: order, from: "nullable === true && sort === 'asc' ? `(", to: "nullable === true && sort === 'desc' ? `(" },
    { path: order, from: 'isUnsigned === true ? unsignedTime(value) : value', to: 'value' },
  ],
};
