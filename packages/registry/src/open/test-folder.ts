import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A folder that is removed at the end of the block. */
export interface TestFolder extends AsyncDisposable {
  /** Absolute, without links. */
  readonly path: string;
  write(files: Readonly<Record<string, string | Uint8Array>>): Promise<void>;
  link(path: string, target: string): Promise<void>;
}

export async function createFolder(files: Readonly<Record<string, string | Uint8Array>> = {}): Promise<TestFolder> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-registry-')));
  const folder: TestFolder = {
    path,
    async write(more) {
      for (const [name, content] of Object.entries(more)) {
        await mkdir(dirname(join(path, name)), { recursive: true });
        await writeFile(join(path, name), content);
      }
    },
    async link(name, target) {
      await mkdir(dirname(join(path, name)), { recursive: true });
      await symlink(target, join(path, name));
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
  await folder.write(files);
  return folder;
}

const core = new URL('../../../core/src/index.ts', import.meta.url).href;

const schemas = new URL('../../../schema/src/json.ts', import.meta.url).href;

const functions = '{ definePack, definePlugin, definePolicy, defineTool, allow, deny }';
const makerCode = `
const configSchema = jsonSchema({ type: 'object', properties: { tools: { type: 'array', items: { type: 'string' } } } });
const tool = (name) => defineTool({ name, description: 'Does it.', execute: () => name });
const plugin = (name, more = {}) => definePlugin({ name, version: '1.2.3', description: 'A plugin.', holdfast: '*', tools: [tool(name + '_tool')], ...more });
const pack = (name, more = {}) => definePack({
  name, version: '1.2.3', description: 'A pack.', configSchema,
  presets: {
    recommended: { description: 'As it is.', config: { tools: ['push'] } },
    strict: { description: 'More.', config: { tools: ['push', 'pull'] } },
    off: { description: 'Nothing.', config: { tools: [] } },
  },
  policies: ({ tools = [] }) => [definePolicy({ name: 'deny-some', check: ({ tool }) => (tools.includes(tool.name) ? deny('No.') : allow) })],
  ...more,
});
`;

/** The start of a module that makes plugins and packs, for any location. */
export const makers: string = `import { jsonSchema } from ${JSON.stringify(schemas)};import ${functions} from ${JSON.stringify(core)};${makerCode}`;
/** The same for CommonJS. */
export const requiredMakers: string = `const { jsonSchema } = require(${JSON.stringify(fileURLToPath(schemas))});const ${functions} = require(${JSON.stringify(fileURLToPath(core))});${makerCode}`;

/** The files of an installed package with an exports map. */
export function packageFiles(
  name: string,
  code: string,
  manifest: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, string>> {
  const fields = { name, version: '3.2.1', type: 'module', exports: { '.': { import: './entry.js' } }, ...manifest };
  return {
    [`node_modules/${name}/package.json`]: JSON.stringify(fields),
    [`node_modules/${name}/entry.js`]: `${makers}${code}`,
  };
}
