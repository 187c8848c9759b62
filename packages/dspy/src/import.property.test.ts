import type { Json } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { loadModules, memoryModules } from '@holdfast/modules';
import { stringifyModule } from '@holdfast/modules/internal';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exportDspy } from './export.ts';
import { importDspy } from './import.ts';
import { readFixture, savedPrograms, tools } from './test-states.ts';

const names = [...savedPrograms.keys()];

/** Replaces the `at`-th value of a document by `put`. */
function replaceAt(document: Json, at: number, put: Json): Json {
  let count = -1;
  const visit = (value: Json): Json => {
    count += 1;
    if (count === at) return put;
    if (Array.isArray(value)) return (value as readonly Json[]).map(visit);
    if (!isPlainObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, visit(inner as Json)]));
  };
  return visit(document);
}

const hostile = fc.oneof(
  fc.constantFrom<Json>(
    null,
    '',
    [],
    {},
    0,
    true,
    'constructor',
    'program.pkl',
    [null],
    [{}],
    { demos: [] },
    { fields: [] },
  ),
  fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>,
);

test('any mutation of a file is rejected with problems, or gives modules that load', async () => {
  const edit = fc.record({ at: fc.integer({ min: 0, max: 80 }), put: hostile });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...names), fc.array(edit, { minLength: 1, maxLength: 3 }), async (name, edits) => {
      const document = edits.reduce<Json>(
        (made, { at, put }) => replaceAt(made, at, put),
        JSON.parse(readFixture(name)) as Json,
      );
      const signatures = savedPrograms.get(name)?.signatures ?? {};
      const imported = await importDspy(JSON.stringify(document), { signatures, tools });
      if (imported.type === 'refused') {
        expect(imported.problems.length).toBeGreaterThan(0);
        for (const { code, message } of imported.problems) {
          expect(code).toMatch(/^(?:dspy|modules)\./);
          expect(message).not.toBe('');
        }
        return;
      }
      expect(imported.modules).toHaveLength(Object.keys(signatures).length);
      const byName = new Map(Object.values(signatures).map((signature) => [signature.name, signature]));
      const known = { signatures: [...byName.values()] };
      for (const module of imported.modules) {
        const modules = { [module.module_id]: { path: 'module.json', hash: null, tags: [] } };
        const manifest = JSON.stringify({ version: '1.0', modules });
        const source = memoryModules({ 'manifest.json': manifest, 'module.json': stringifyModule(module) });
        const loaded = await loadModules(source, known);
        expect(loaded.diagnostics).toStrictEqual([]);
        expect(loaded.modules.get(module.module_id)?.definition).toStrictEqual(module);
      }
      expect(exportDspy(imported.modules, known)).toContain('"dependency_versions"');
    }),
    { numRuns: 80 },
  );
});

test('any text or bytes are rejected without throwing', async () => {
  const source = fc.oneof(fc.string({ unit: 'binary' }), fc.json(), fc.uint8Array());
  const signatures = savedPrograms.get('predict')?.signatures ?? {};
  await fc.assert(
    fc.asyncProperty(source, async (text) => {
      expect((await importDspy(text, { signatures })).type).toBe('refused');
    }),
    { numRuns: 50 },
  );
});
