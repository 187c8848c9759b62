import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
export const folder: string = join(root, '.cache', 'frameworks');

/** The newest on 2026-11-28. */
export const versions = {
  '@modelcontextprotocol/sdk': '1.32.2',
  '@openai/agents': '0.20.0',
  '@langchain/core': '1.4.0',
  '@langchain/langgraph': '1.7.3',
  '@mastra/core': '1.71.0',
  '@strands-agents/sdk': '1.19.0',
  '@opentelemetry/api': '1.9.0',
  ai: '7.0.173',
  langchain: '1.5.14',
  zod: '4.6.7',
} as const;

const pages = ['openai-agents', 'langchain', 'mastra', 'strands'] as const;

/** The declarations that the pages leave to the reader. */
const given: Readonly<Record<(typeof pages)[number], string>> = {
  'openai-agents': 'declare const refund: Parameters<typeof openAiTool>[0] & { parameters: undefined };',
  langchain: `import type { MemorySaver } from '@langchain/langgraph';
declare const model: NonNullable<Parameters<typeof createAgent>[0]['model']>;
declare const tools: import('@langchain/core/tools').StructuredToolInterface[];
declare const checkpointer: MemorySaver;`,
  mastra: `type Config = ConstructorParameters<typeof Agent>[0];
declare const instructions: string;
declare const model: Config['model'];
declare const tools: Record<string, ReturnType<typeof import('@mastra/core/tools').createTool>>;`,
  strands: `declare const model: import('@strands-agents/sdk').Model;
declare const tools: import('@strands-agents/sdk').Tool[];`,
};

/** The program of a page of the guide, to be compiled. */
function toProgram(name: (typeof pages)[number]): string {
  const page = readFileSync(join(root, 'apps', 'docs', 'guide', `${name}.md`), 'utf8');
  const [, program] = /^```typescript\n([\s\S]*?)^```$/m.exec(page) ?? [];
  if (program === undefined) throw new Error(`The page ${name}.md has no program.`);
  const guard = "declare const guard: import('@holdfast/guard').ReleasingGuard;";
  return `${program}\n${guard}\n${given[name]}\nexport { agent };\n`;
}

/** Installs the frameworks, some 350 MB, once into their own folder, and copies the drivers next to them. */
export function installFrameworks(): void {
  if (!existsSync(folder)) {
    const fresh = `${folder}-new`;
    rmSync(fresh, { recursive: true, force: true });
    mkdirSync(fresh, { recursive: true });
    writeFileSync(
      join(fresh, 'package.json'),
      JSON.stringify({ private: true, type: 'module', dependencies: versions }),
    );
    // Strands and OpenAI Agents want different majors of `openai`, of which only the second is used here.
    const words = ['install', '--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund'];
    execFileSync('npm', words, { cwd: fresh, stdio: 'inherit' });
    renameSync(fresh, folder);
  }
  const ours = join(folder, 'node_modules', '@holdfast');
  rmSync(ours, { recursive: true, force: true });
  mkdirSync(ours);
  for (const name of ['core', 'guard', 'policy', 'session'])
    symlinkSync(join(root, 'packages', name), join(ours, name));
  for (const name of ['installed', 'ai-sdk.ts', 'driver.ts', 'tsconfig.json']) {
    rmSync(join(folder, name), { recursive: true, force: true });
    cpSync(join(import.meta.dirname, name), join(folder, name), { recursive: true });
  }
  rmSync(join(folder, 'pages'), { recursive: true, force: true });
  mkdirSync(join(folder, 'pages'));
  for (const name of pages) writeFileSync(join(folder, 'pages', `${name}.ts`), toProgram(name));
  rmSync(join(folder, 'examples'), { recursive: true, force: true });
  cpSync(join(root, 'examples', 'frameworks'), join(folder, 'examples'), { recursive: true });
}
