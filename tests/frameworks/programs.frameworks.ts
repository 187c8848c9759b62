import { join } from 'node:path';
import type { Driver } from './driver.ts';
import { folder } from './install.ts';
import { testDriver } from './scenarios.ts';

// The copies beside the installed packages.
for (const name of ['openai-agents', 'langchain', 'mastra', 'strands']) {
  const { driver } = (await import(join(folder, 'installed', `${name}.ts`))) as { readonly driver: Driver };
  testDriver(driver);
}
