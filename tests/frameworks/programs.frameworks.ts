import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Driver } from './driver.ts';
import { folder, versions } from './install.ts';
import { testOwnTools } from './own.ts';
import { testDriver } from './scenarios.ts';

test('the guide names the tested versions', () => {
  const page = readFileSync(join(import.meta.dirname, '../../apps/docs/guide/frameworks.md'), 'utf8');
  for (const row of [
    `OpenAI Agents ${versions['@openai/agents']}`,
    `LangChain ${versions.langchain}`,
    `Mastra ${versions['@mastra/core']}`,
    `Strands ${versions['@strands-agents/sdk']}`,
  ])
    expect(page).toContain(`| ${row} |`);
});

// The copies beside the installed packages.
for (const name of ['openai-agents', 'langchain', 'mastra', 'strands']) {
  const { driver } = (await import(join(folder, 'installed', `${name}.ts`))) as { readonly driver: Driver };
  testDriver(driver);
  testOwnTools(driver);
}

// Each checks itself.
test.each(['openai-agents', 'langchain', 'mastra', 'strands'])('examples/frameworks/%s.ts holds', async (name) => {
  await expect(import(join(folder, 'examples', `${name}.ts`))).resolves.toBeDefined();
});
