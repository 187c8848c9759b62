import { mkdirSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { type GuardHost, guardFolder } from './guard-folder.ts';

/**
 * Compiling takes longer than most commands: Node.js keeps what it has compiled in the guard's folder, which no guarded agent can write.
 */
export function cacheCompiled(host: GuardHost): void {
  const folder = join(guardFolder(host), 'compiled');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch {
    // A disk that cannot be written: the program only starts more slowly.
    return;
  }
  enableCompileCache(folder);
}
