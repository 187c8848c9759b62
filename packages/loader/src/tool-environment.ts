// What programs need to find others and to write times and texts as people here do; nothing that could be a secret.
const alwaysPassed = ['PATH', 'LANG', 'TZ', 'TMPDIR', 'SystemRoot'];

/** The environment of a tool's process: nothing but what is named. */
export function toolEnvironment(names: readonly string[] = []): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const name of [...alwaysPassed, ...names]) {
    const value = Object.hasOwn(process.env, name) ? process.env[name] : undefined;
    if (value !== undefined) environment[name] = value;
  }
  return environment;
}
