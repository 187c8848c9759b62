import { expect, expectTypeOf, test } from 'vitest';
import { defineResource, type ResourceDefinition, type StagedResource, type ToolContext } from '../index.ts';
import { isResourceDefinition } from '../internal.ts';

interface Client {
  ask(): string;
  close(): Promise<void>;
}
interface Counter {
  add(): void;
}

const client: ResourceDefinition<Client> = defineResource({
  name: 'client',
  lifetime: 'session',
  create: async (): Promise<Client> => ({ ask: () => 'yes', close: async () => undefined }),
  dispose: (made) => made.close(),
});

test('a declared resource is frozen data plus functions', () => {
  expect(Object.isFrozen(client)).toBe(true);
  expect(client).toEqual({
    type: 'resource',
    name: 'client',
    lifetime: 'session',
    create: expect.any(Function),
    dispose: expect.any(Function),
  });
  expect('dispose' in defineResource({ name: 'a', lifetime: 'use', create: () => 1 })).toBe(false);
});

test.each(['a', '0', 'db.main', 'read-Only_2', 'a'.repeat(64)])('the name `%s` is accepted', (name) => {
  expect(defineResource({ name, lifetime: 'call', create: () => 1 }).name).toBe(name);
});

const base = { name: 'a', lifetime: 'call', create: () => 1 };
test.each([
  ['an empty name', { ...base, name: '' }, 'name ``'],
  ['a capital first', { ...base, name: 'Client' }, '`Client`'],
  ['a name too long', { ...base, name: 'a'.repeat(65) }, 'must match'],
  ['a name with a slash', { ...base, name: 'a/b' }, '`a/b`'],
  ['no name', { ...base, name: undefined }, '`undefined`'],
  ['a name that is not a string', { ...base, name: Symbol('a') }, '`Symbol(a)`'],
  ['an unknown lifetime', { ...base, lifetime: 'singleton' }, '`singleton`'],
  ['no lifetime', { ...base, lifetime: undefined }, 'session, call or use'],
  ['no create', { ...base, create: undefined }, 'needs a `create`'],
  ['a value in place of create', { ...base, create: {} }, 'needs a `create`'],
  ['a value in place of dispose', { ...base, dispose: true }, '`dispose` of the resource `a`'],
])('resource.invalid: %s', (_case, definition, message) => {
  expect(() => defineResource(definition as never)).toThrow(
    expect.objectContaining({ code: 'resource.invalid', message: expect.stringContaining(message) }),
  );
});

test.each([
  [client, true],
  [null, false],
  ['resource', false],
  [{ type: 'resource' }, false],
  [{ type: 'staged-resource', create: () => 1 }, false],
])('%o is recognised: %s', (value, recognised) => {
  expect(isResourceDefinition(value)).toBe(recognised);
});

test('a token has the type that a tool gets: the instance, or the view of a staged one', () => {
  const use = {} as ToolContext['use'];
  const counter = defineResource({
    name: 'counter',
    lifetime: 'session',
    create: () => ({}) as StagedResource<Counter, { readonly count: number }>,
    dispose: (made) => expectTypeOf(made).toEqualTypeOf<StagedResource<Counter, { readonly count: number }>>(),
  });
  expectTypeOf(counter).toEqualTypeOf<ResourceDefinition<Counter>>();
  expectTypeOf<ReturnType<typeof use<Counter>>>().toEqualTypeOf<Promise<Counter>>();
  expectTypeOf(client).toExtend<ResourceDefinition>();
  const inferred = defineResource({
    name: 'inferred',
    lifetime: 'call',
    create: async ({ use }) => ({ counter: await use(counter), client: await use(client) }),
    dispose: (made) => made.client.close(),
  });
  expectTypeOf(inferred).toEqualTypeOf<ResourceDefinition<{ counter: Counter; client: Client }>>();
});
