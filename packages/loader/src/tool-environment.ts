import type { GrantedEnvironment } from './environment.ts';

// What programs need to find others and to write times and texts as people here do; nothing that could be a secret.
const alwaysPassed = ['PATH', 'LANG', 'TZ', 'TMPDIR', 'SystemRoot'];

/** The environment of a tool's process: what every tool gets, and what this one is granted. */
export function toolEnvironment(granted: GrantedEnvironment = {}): Record<string, string> {
  const environment: Record<string, string> = { ...granted };
  for (const name of alwaysPassed) {
    const value = Object.hasOwn(process.env, name) ? process.env[name] : undefined;
    if (value !== undefined) environment[name] = value;
  }
  return environment;
}
