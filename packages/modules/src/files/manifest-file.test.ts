import { expect, test } from 'vitest';
import { parseManifest } from './manifest.ts';
import { listModule, type ManifestFile } from './save.ts';

const hash = `sha256:${'ab'.repeat(32)}`;

function fileOf(modules: object): ManifestFile {
  const content = { version: '1.0', modules } as ManifestFile['content'];
  const parsing = parseManifest(JSON.stringify(content));
  if (parsing.type === 'invalid') throw new Error('The manifest is invalid.');
  return { content, entries: parsing.entries };
}

test('a module keeps its path, and its tags unless others are given', () => {
  const file = fileOf({ a: { path: 'deep/a.json', tags: ['old'] } });
  const tagsOf = (tags: readonly string[] | undefined): unknown => {
    const { text, path } = listModule(file, { moduleId: 'a', hash, tags });
    expect(path).toBe('deep/a.json');
    return JSON.parse(text).modules.a;
  };
  expect(tagsOf(undefined)).toEqual({ path: 'deep/a.json', hash, tags: ['old'] });
  expect(tagsOf([])).toEqual({ path: 'deep/a.json', hash, tags: [] });
  expect(tagsOf(['new'])).toEqual({ path: 'deep/a.json', hash, tags: ['new'] });
  const { text } = listModule(file, { moduleId: 'b', hash, tags: undefined });
  expect(JSON.parse(text).modules.b).toEqual({ path: 'b.json', hash, tags: [] });
});

test('an id that differs from another only by case is reported as such, whatever else is wrong', () => {
  const file = fileOf({ broken: { path: '../broken.json' }, Shop: { path: 'shop.json' } });
  expect(() => listModule(file, { moduleId: 'shop', hash, tags: undefined })).toThrow(
    expect.objectContaining({ code: 'modules.invalid', reason: 'id_twin' }),
  );
  expect(JSON.parse(listModule(file, { moduleId: 'bench', hash, tags: undefined }).text).modules).toMatchObject({
    broken: { path: '../broken.json' },
  });
});

test('invalid tags are rejected', () => {
  expect(() => listModule(fileOf({}), { moduleId: 'a', hash, tags: [''] })).toThrow(
    expect.objectContaining({ code: 'modules.invalid', reason: 'manifest' }),
  );
});
