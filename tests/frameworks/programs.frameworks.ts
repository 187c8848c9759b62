import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Driver } from './driver.ts';
import { folder, versions } from './install.ts';
import { testOwnTools } from './own.ts';
import { testOwnKit } from './own-kit.ts';
import { testDriver } from './scenarios.ts';

test.each([
  ['openai-agents', `OpenAI Agents ${versions['@openai/agents']}`],
  ['langchain', `LangChain ${versions.langchain}`],
  ['mastra', `Mastra ${versions['@mastra/core']}`],
  ['strands', `Strands ${versions['@strands-agents/sdk']}`],
])("the guide's page %s names the tested version", (name, version) => {
  const page = readFileSync(join(import.meta.dirname, `../../apps/docs/guide/${name}.md`), 'utf8');
  expect(page).toContain(`For ${version},`);
});

// The copies beside the installed packages.
for (const name of ['openai-agents', 'langchain', 'mastra', 'strands']) {
  const { driver } = (await import(join(folder, 'installed', `${name}.ts`))) as { readonly driver: Driver };
  testDriver(driver);
  testOwnTools(driver);
  testOwnKit(driver);
}

// Each checks itself.
test.each(['openai-agents', 'langchain', 'mastra', 'strands'])('examples/frameworks/%s.ts holds', async (name) => {
  await expect(import(join(folder, 'examples', `${name}.ts`))).resolves.toBeDefined();
});
