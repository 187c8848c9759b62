import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

// The newest that npm installed on 2026-11-24: 1.4 and 1.5 depend on packages that the registry did not have. A turn of 0.84.4, which
// does not compare the declarations of tools in every turn, takes a third of the time.
const version = '0.87.1';
const packages = ['@earendil-works/pi-agent-core', '@earendil-works/pi-ai'] as const;

export const piVersions: Readonly<Record<string, string>> = { [packages[0]]: version };

/** The parts of pi that we use. */
export interface Pi {
  runAgentLoop(
    prompts: readonly object[],
    context: { readonly systemPrompt: string; readonly messages: readonly object[]; readonly tools: readonly object[] },
    configuration: {
      readonly model: object;
      readonly convertToLlm: (messages: readonly object[]) => readonly object[];
    },
    emit: (event: object) => void,
    signal: AbortSignal | undefined,
    stream: () => PiStream,
  ): Promise<readonly object[]>;
  createAssistantMessageEventStream(): PiStream;
  /** TypeBox, which pi uses to declare tool parameters. */
  readonly Type: {
    String(options?: object): object;
    Boolean(): object;
    Integer(options?: object): object;
    Array(items: object, options?: object): object;
    Union(members: readonly object[]): object;
    Literal(value: string): object;
    Object(properties: Readonly<Record<string, object>>, options?: object): object;
  };
}

export interface PiStream {
  push(event: object): void;
}

/** pi from the user's cache, where it is installed with npm the first time: 90 packages that no other command needs. */
export async function loadPi(): Promise<Pi> {
  const { XDG_CACHE_HOME: cache } = process.env;
  const parent = join(cache !== undefined && isAbsolute(cache) ? cache : join(homedir(), '.cache'), 'holdfast-bench');
  const folder = join(parent, `pi-${version}`);
  if (!existsSync(folder)) await installPi(parent, folder);
  // The file that `installPi` wrote, and what pi exports.
  return (await import(pathToFileURL(join(folder, 'index.js')).href)) as Pi;
}

async function installPi(parent: string, folder: string): Promise<void> {
  console.error(`bench: installing pi ${version} into ${folder} ...`);
  await mkdir(parent, { recursive: true });
  const fresh = await mkdtemp(join(parent, 'new-'));
  try {
    await writeFile(join(fresh, 'package.json'), '{ "private": true, "type": "module" }\n');
    await writeFile(
      join(fresh, 'index.js'),
      `export { runAgentLoop } from '${packages[0]}';\nexport { createAssistantMessageEventStream, Type } from '${packages[1]}';\n`,
    );
    await promisify(execFile)(
      'npm',
      ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...packages.map((name) => `${name}@${version}`)],
      { cwd: fresh, shell: process.platform === 'win32' },
    );
    // Written last, so that an interrupted installation does not count.
    await rename(fresh, folder);
  } catch (cause) {
    await rm(fresh, { recursive: true, force: true });
    throw new Error(
      `Cannot install pi ${version} with npm. \`call-path/peers\` needs the npm registry once; the other benchmarks do not need pi.`,
      { cause },
    );
  }
}
