import type { Problem } from '../basics/errors.ts';

/** An environment variable requested by a tool file. */
export interface EnvironmentVariable {
  readonly name: string;
  /** If true, a call of the tool fails without a value. */
  readonly required: boolean;
}

const maxVariables = 32;
const maxNameLength = 100;

/** Given to every tool; these contain no secret. */
const alwaysThere: ReadonlySet<string> = new Set(['PATH', 'LANG', 'TZ', 'TMPDIR', 'SYSTEMROOT']);

// Variables that a dynamic linker, an interpreter or a shell reads on start: foreign code would run before the tool.
const startNames: ReadonlySet<string> = new Set([
  'BASH_ENV',
  'BASHOPTS',
  'COMSPEC',
  'ENV',
  'GCONV_PATH',
  'IFS',
  'JAVA_TOOL_OPTIONS',
  'JDK_JAVA_OPTIONS',
  'LOCPATH',
  'NODE_CHANNEL_FD',
  'NODE_COMPILE_CACHE',
  'NODE_EXTRA_CA_CERTS',
  'NODE_OPTIONS',
  'NODE_PATH',
  'NODE_REPL_EXTERNAL_MODULE',
  'NODE_TLS_REJECT_UNAUTHORIZED',
  'NODE_V8_COVERAGE',
  'OPENSSL_CONF',
  'OPENSSL_MODULES',
  'PATHEXT',
  'PERL5DB',
  'PERL5LIB',
  'PERL5OPT',
  'PERLLIB',
  'PHPRC',
  'PHP_INI_SCAN_DIR',
  'PROMPT_COMMAND',
  'PS4',
  'RUBYLIB',
  'RUBYOPT',
  'SHELL',
  'SHELLOPTS',
  '_JAVA_OPTIONS',
]);
const startPrefixes: readonly string[] = ['LD_', 'DYLD_', 'PYTHON', 'BASH_FUNC_', 'GLIBC_', 'MALLOC_'];

/** A problem of a tool's `environment`; `index`: of the name concerned. */
export interface EnvironmentProblem extends Problem {
  readonly index?: number;
}

/** Why a tool cannot request `environment`, or `undefined`. A name that ends in `?` is optional. */
export function findEnvironmentProblem(environment: unknown): EnvironmentProblem | undefined {
  if (!Array.isArray(environment) || environment.length === 0 || environment.length > maxVariables)
    return invalid(`\`environment\` must be a list of 1 to ${maxVariables} names of environment variables.`);
  const seen = new Set<string>();
  for (const [index, entry] of environment.entries()) {
    const name = typeof entry === 'string' ? entry.replace(/\?$/, '') : undefined;
    const problem =
      name === undefined
        ? invalid(`\`${String(JSON.stringify(entry)).slice(0, 100)}\` must be the name of an environment variable.`)
        : (findVariableProblem(name) ??
          (seen.has(name.toUpperCase()) ? invalid(`\`${name}\` is listed twice.`) : undefined));
    if (problem !== undefined) return { ...problem, index };
    if (name !== undefined) seen.add(name.toUpperCase());
  }
  return undefined;
}

/** Why a tool cannot get the environment variable `name`, or `undefined`. */
export function findVariableProblem(name: string): Problem | undefined {
  if (name.length > maxNameLength || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
    return invalid(
      `\`${name.slice(0, maxNameLength)}\` must be letters, digits and \`_\`, and not begin with a digit.`,
    );
  }
  // Windows ignores the case of a name.
  const upper = name.toUpperCase();
  if (alwaysThere.has(upper)) return reserved(`\`${name}\` is already given to every tool.`);
  if (upper.startsWith('HOLDFAST_')) return reserved(`\`${name}\` is reserved for Holdfast.`);
  if (startNames.has(upper) || startPrefixes.some((prefix) => upper.startsWith(prefix)))
    return reserved(`\`${name}\` changes how a program starts, so tools cannot get it.`);
  return undefined;
}

/** The variables of a checked list. */
export function toEnvironmentVariables(environment: readonly string[]): readonly EnvironmentVariable[] {
  return environment.map((entry) => ({ name: entry.replace(/\?$/, ''), required: !entry.endsWith('?') }));
}

function invalid(message: string): Problem {
  return { code: 'tool.invalid', reason: 'environment.invalid', message };
}

function reserved(message: string): Problem {
  return { code: 'tool.invalid', reason: 'environment.reserved', message };
}
