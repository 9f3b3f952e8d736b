import { expect, it } from 'vitest';

import { createHiddenProperty } from '#service/runtime/hidden-property.ts';

it('keeps a value with an object, and another one for others who keep something with it', () => {
  const [one, other] = [createHiddenProperty<object, number>(), createHiddenProperty<object, string>()];
  const [key, equal] = [{ n: 1 }, { n: 1 }];
  one.attach(key, 5);
  other.attach(key, 'five');
  expect([one.of(key), other.of(key), one.of(equal)]).toEqual([5, 'five', undefined]);
});

it('is seen by nobody who reads, writes out or copies the object', () => {
  const attached = createHiddenProperty<object, number>();
  const key = { n: 1 };
  attached.attach(key, 5);
  expect(key).toStrictEqual({ n: 1 });
  expect([Reflect.ownKeys({ ...key }), JSON.stringify(key)]).toEqual([['n'], '{"n":1}']);
  expect(attached.of({ ...key })).toBeUndefined();
});

it('is not taken twice with one object', () => {
  const attached = createHiddenProperty<object, number>();
  const key = {};
  attached.attach(key, 5);
  expect(() => attached.attach(key, 6)).toThrow(TypeError);
});
