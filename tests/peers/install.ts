import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
export const folder: string = join(root, '.cache', 'peers');

/** The newest installable versions on 2026-11-24; newer ones of pi depend on packages missing from the registry. */
export const versions = {
  ai: '7.0.173',
  '@ai-sdk/openai': '4.0.118',
  '@openai/agents': '0.20.0',
  '@mastra/core': '1.71.0',
  '@langchain/langgraph': '1.7.3',
  '@langchain/core': '1.4.0',
  '@langchain/openai': '1.5.8',
  langchain: '1.5.14',
  '@strands-agents/sdk': '1.19.0',
  '@modelcontextprotocol/sdk': '1.32.2',
  '@opentelemetry/api': '1.9.0',
  // Of LangChain and Strands; OpenAI Agents brings its own, of another major.
  openai: '6.49.0',
  '@earendil-works/pi-agent-core': '0.87.1',
  '@earendil-works/pi-ai': '0.87.1',
  zod: '4.6.7',
} as const;

/** Installs the peers, some 490 MB, once into their own folder, and copies the programs next to them. */
export function installPeers(): void {
  const packageFile = JSON.stringify({ private: true, type: 'module', dependencies: versions });
  if (!existsSync(folder)) {
    const fresh = `${folder}-new`;
    rmSync(fresh, { recursive: true, force: true });
    mkdirSync(fresh, { recursive: true });
    writeFileSync(join(fresh, 'package.json'), packageFile);
    const words = ['install', '--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund'];
    execFileSync('npm', words, { cwd: fresh, stdio: 'inherit' });
    const ours = join(fresh, 'node_modules', '@holdfast');
    mkdirSync(ours);
    for (const name of ['kit', 'adapter-ai-sdk']) symlinkSync(join(root, 'packages', name), join(ours, name));
    renameSync(fresh, folder);
  }
  cpSync(join(import.meta.dirname, 'programs'), join(folder, 'programs'), { recursive: true });
}
