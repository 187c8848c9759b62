/** The things `tamper` looked at, and those it could change. */
export interface Tampering {
  /** Paths of the objects that it found. */
  readonly seen: readonly string[];
  /** `<path> <mutation>` of each that succeeded. */
  readonly changed: readonly string[];
}

/**
 * Tries to change everything that can be reached from `root`: every property, also behind getters of classes, every item of lists, maps
 * and sets. What is in `foreign`, and prototypes, are left alone: code in this process can replace the methods of any class.
 */
export function tamper(root: unknown, foreign: ReadonlySet<unknown> = new Set()): Tampering {
  const found = new Map<object, string>();
  const open: [unknown, string][] = [[root, '$']];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [value, path] = next;
    if (typeof value !== 'object' || value === null || found.has(value) || foreign.has(value) || isBuiltIn(value))
      continue;
    found.set(value, path);
    for (const [name, child] of childrenOf(value)) open.push([child, `${path}.${name}`]);
  }
  const changed: string[] = [];
  // All of it is found before anything is changed.
  for (const [value, path] of found) {
    for (const [name, mutate] of mutationsOf(value)) if (succeeds(mutate)) changed.push(`${path} ${name}`);
  }
  return { seen: [...found.values()], changed };
}

function isBuiltIn(value: object): boolean {
  return (
    value instanceof AbortSignal || value instanceof Promise || value instanceof WeakMap || ArrayBuffer.isView(value)
  );
}

function* childrenOf(value: object): Generator<readonly [string, unknown]> {
  for (let owner: object | null = value; owner !== null && !isRoot(owner); owner = Object.getPrototypeOf(owner)) {
    for (const key of Reflect.ownKeys(owner)) {
      const descriptor = Object.getOwnPropertyDescriptor(owner, key);
      // Schemas belong to the user's library.
      if (schemas.has(key)) continue;
      // Of a prototype only what gives something of the object.
      if (owner !== value && descriptor?.get === undefined) continue;
      yield [String(key), read(() => Reflect.get(owner, key, value))];
    }
  }
  if (Symbol.iterator in value && typeof value[Symbol.iterator] === 'function' && !Array.isArray(value)) {
    const items = read(() => [...(value as Iterable<unknown>)].slice(0, 100));
    const all: readonly unknown[] = Array.isArray(items) ? items : [];
    // The pairs of a map are made anew for each who looks.
    for (const [at, item] of ('get' in value ? all.flat() : all).entries()) yield [`<${at}>`, item];
  }
}

const schemas: ReadonlySet<unknown> = new Set(['inputSchema', 'outputSchema', 'params', 'schema', 'configSchema']);

const roots: ReadonlySet<unknown> = new Set(
  [Object, Array, Map, Set, Error, Function].map(({ prototype }): unknown => prototype),
);

function isRoot(value: object): boolean {
  return roots.has(value);
}

/** `undefined` where reading throws, as in a context whose call has ended. */
function read(look: () => unknown): unknown {
  try {
    return look();
  } catch (thrown) {
    return thrown === undefined ? undefined : undefined;
  }
}

type Mutation = readonly [name: string, mutate: () => unknown];

function* mutationsOf(value: object): Generator<Mutation> {
  if (value instanceof Map) {
    yield ['Map.set', () => Map.prototype.set.call(value, 'tampered', 'tampered') !== undefined];
    yield ['Map.clear', () => Map.prototype.clear.call(value) === undefined];
  }
  if (value instanceof Set) {
    yield ['Set.add', () => Set.prototype.add.call(value, 'tampered') !== undefined];
    yield ['Set.clear', () => Set.prototype.clear.call(value) === undefined];
  }
  if (Array.isArray(value)) {
    yield ['push', () => value.push('tampered') > 0];
    yield ['reverse', () => Array.isArray(value.reverse()) && value.length > 1];
    yield ['splice', () => value.splice(0).length > 0];
  }
  for (const key of Reflect.ownKeys(value)) {
    // The length of a list that is empty by now.
    if (Array.isArray(value) && key === 'length') continue;
    yield [`set ${String(key)}`, () => Reflect.set(value, key, 'tampered')];
    yield [
      `define ${String(key)}`,
      () => Reflect.defineProperty(value, key, { value: 'tampered', configurable: true }),
    ];
    yield [`delete ${String(key)}`, () => Reflect.deleteProperty(value, key)];
  }
  yield ['add', () => Reflect.set(value, 'tampered', 'tampered')];
  for (const method of ['get', 'has', 'read', 'check', 'render']) {
    if (method in value) yield [`shadow ${method}`, () => Reflect.set(value, method, () => undefined)];
  }
  yield ['prototype', () => Reflect.setPrototypeOf(value, null)];
}

function succeeds(mutate: () => unknown): boolean {
  try {
    return mutate() === true;
  } catch (thrown) {
    // Frozen, as it should be; anything else would be a fault of its own.
    if (thrown instanceof TypeError) return false;
    throw thrown;
  }
}
