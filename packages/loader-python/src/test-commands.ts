import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '@holdfast/core';
import { createProject, type TestProject } from './test-project.ts';

/** The text of a `.tool.json`. */
export function commandFile(command: readonly string[], more: JsonObject = {}): string {
  return JSON.stringify(
    {
      name: 'count',
      description: 'Count.',
      dangerous: false,
      parameters: { type: 'object', properties: { text: { type: 'string' } } },
      command,
      ...more,
    },
    undefined,
    2,
  );
}

/** A project with executable shell scripts. */
export async function createCommandProject(files: Readonly<Record<string, string | Uint8Array>>): Promise<TestProject> {
  const project = await createProject(files);
  for (const path of Object.keys(files)) if (path.endsWith('.sh')) await chmod(join(project.root, path), 0o755);
  return project;
}

/** A project with one tool `count`, a shell script. */
export async function createScript(script: string, more: JsonObject = {}): Promise<TestProject> {
  return await createCommandProject({
    'plugins/count.tool.json': commandFile(['./count.sh'], more),
    'plugins/count.sh': `#!/bin/sh\n${script}\n`,
  });
}
