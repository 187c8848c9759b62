import { append, defineSlice, type Json, type JsonObject, type Redactor, toolOk } from '@holdfast/core';
import { describe, expect, test } from 'vitest';
import { createSession, memoryStore, replay, type Session } from '../index.ts';
import { createRedactor, toRedactor } from '../redact.ts';

const key = 'a key known only to the host';
const mask = '[redacted:0123456789ab]';
const notes = defineSlice<Json>({
  id: 'notes',
  kind: 'list',
  reducers: { noted: (_state, payload) => append(payload) },
});

/** A host's redactor: finds only what it has learned. */
class Own {
  readonly learned: string[] = [];

  redact(json: Json): Json {
    const text = JSON.stringify(json);
    const masked = this.learned.reduce((left, secret) => left.replaceAll(secret, mask), text);
    return masked === text ? json : (JSON.parse(masked) as Json);
  }

  learn(secret: string): void {
    this.learned.push(secret);
  }

  digest(json: Json): string {
    return `${this.learned.length} ${JSON.stringify(json)}`;
  }
}

describe('a redactor of your own `redact` and `learn`', () => {
  const schema: JsonObject = { type: 'object', properties: { phrase: { type: 'string', writeOnly: true } } };

  test('learns marked secrets, and masks records, events and exports', () => {
    const own = new Own();
    const redactor = toRedactor(own);
    redactor.learnArguments(schema, '{"phrase":"sesame","user":"ann"}');
    redactor.learnReturned(schema, toolOk({ phrase: 'thyme' }));
    redactor.learn('cumin');
    expect(own.learned).toEqual(['sesame', 'thyme', 'cumin']);

    const store = memoryStore();
    const session = createSession({ slices: [notes], store, redactor });
    session.dispatch({ type: 'noted', payload: 'sesame and thyme' });
    session.record({ type: 'mine', text: 'cumin' });
    expect(session.read(notes).toArray()).toEqual([`${mask} and ${mask}`]);
    expect(JSON.stringify(store.records)).not.toMatch(/sesame|thyme|cumin/);
    own.learn('and');
    expect(JSON.stringify(session.export())).not.toContain('and');
  });

  test('has a digest if one is given', () => {
    const { redact, learn } = createRedactor({ key });
    expect(toRedactor(new Own()).digest?.('a')).toBe('0 "a"');
    expect('digest' in toRedactor({ redact, learn })).toBe(false);
  });

  test.each([{}, { redact: (json: Json) => json }, { learn: () => undefined }, { redact: 1, learn: 2 }])(
    'rejects %j',
    (own) => {
      expect(() => toRedactor(own as never)).toThrow(expect.objectContaining({ code: 'options.invalid' }));
    },
  );
});

const { digest: _, ...whole } = createRedactor({ key });
const methods = Object.keys(whole) as readonly (keyof typeof whole)[];

function without(name: keyof Redactor): Redactor {
  return { ...createRedactor({ key }), [name]: undefined } as unknown as Redactor;
}

describe('a redactor that cannot mask', () => {
  const records = (): ReturnType<typeof memoryStore> => {
    const store = memoryStore();
    createSession({ store });
    return store;
  };
  const makers: Readonly<Record<string, (redactor: Redactor) => Session>> = {
    createSession: (redactor) => createSession({ redactor }),
    replay: (redactor) => replay(records().records, { redactor }),
    fork: (redactor) => createSession({ redactor: createRedactor({ key }) }).fork({ redactor }),
  };

  test.each(Object.keys(makers).flatMap((maker) => methods.map((method) => ({ maker, method }))))(
    '$maker rejects a redactor without $method',
    ({ maker, method }) => {
      expect(() => makers[maker]?.(without(method))).toThrow(
        expect.objectContaining({
          code: 'options.invalid',
          message: expect.stringMatching(new RegExp(`no \`${method}\`: .*\`createRedactor\`.*\`toRedactor\``)),
          data: { option: 'redactor', reason: 'kind' },
        }),
      );
    },
  );

  test('rejects the former interface, and non-objects', () => {
    const old = { redact: (json: Json) => json, learn: () => undefined };
    for (const redactor of [old, null]) {
      for (const make of Object.values(makers))
        expect(() => make(redactor as never)).toThrow(expect.objectContaining({ code: 'options.invalid' }));
    }
  });

  test('writes nothing', () => {
    const store = memoryStore();
    expect(() => createSession({ store, redactor: without('maskRecord') })).toThrow('no `maskRecord`');
    expect(store.records).toEqual([]);
  });
});
