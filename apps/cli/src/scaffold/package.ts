/** A package to write. */
export interface NewPackage {
  /** As npm has it, with its scope. */
  readonly packageName: string;
  /** Of the pack or plugin. */
  readonly name: string;
  /** Of this Holdfast. */
  readonly version: string;
}

export interface PackageParts {
  readonly kind: 'pack' | 'plugin';
  readonly description: string;
  readonly scripts: Readonly<Record<string, string>>;
  /** By name, the versions that npm may install. */
  readonly dependencies: Readonly<Record<string, string>>;
  /** Packages of Holdfast that only its tests need. */
  readonly devDependencies: readonly string[];
}

/** What every package has, whatever is in it: written in TypeScript, published as JavaScript with types. By path. */
export function toPackageFiles(
  { packageName, version }: NewPackage,
  { kind, description, scripts, dependencies, devDependencies }: PackageParts,
): ReadonlyMap<string, string> {
  const range = toRange(version);
  const manifest = {
    name: packageName,
    version: '0.1.0',
    description,
    license: 'MIT',
    type: 'module',
    // By this \`holdfast plugins\` finds it; nothing loads it by itself.
    holdfast: kind,
    // npm takes a package with a scope for a private one otherwise.
    ...(packageName.startsWith('@') ? { publishConfig: { access: 'public' } } : {}),
    sideEffects: false,
    engines: { node: '>=22.18' },
    files: ['dist'],
    exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' }, './package.json': './package.json' },
    scripts: {
      build: 'tsc -p tsconfig.build.json',
      test: `tsc && node --test "test/*.test.ts"`,
      dev: `tsx watch test/${kind}.test.ts`,
      ...scripts,
      prepack: 'npm run build',
    },
    ...(Object.keys(dependencies).length === 0 ? {} : { dependencies }),
    peerDependencies: { '@holdfast/core': range },
    devDependencies: {
      ...Object.fromEntries(['@holdfast/core', ...devDependencies].map((name) => [name, range])),
      '@types/node': '^24.0.0',
      tsx: '^4.20.0',
      typescript: '>=5.8',
    },
  };
  return new Map([
    ['package.json', toJson(manifest)],
    ['tsconfig.json', toJson(settings)],
    ['tsconfig.build.json', toJson(buildSettings)],
    ['.gitignore', 'node_modules/\ndist/\n'],
  ]);
}

/** Until 1.0 a new minor version may break; what was tried is the one that wrote the files. */
export function toRange(version: string): string {
  return `>=${version} <1`;
}

/** `git-safety` as a name in a program: `gitSafety`. */
export function toConstantName(name: string): string {
  const [first = '', ...rest] = name.split('-').filter((word) => word !== '');
  const joined = [first, ...rest.map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`)].join('');
  // A digit in front, or a word of the language, would be no name.
  return /^\d/.test(joined) || reservedWords.has(joined)
    ? `the${joined.slice(0, 1).toUpperCase()}${joined.slice(1)}`
    : joined;
}

// Of a module in strict mode, and what the files themselves use.
const reservedWords: ReadonlySet<string> = new Set(
  `allow arguments async await break case cases catch class const continue debugger default delete deny do else enum eval export extends
  false finally for function if implements import in instanceof interface let new null package private protected public return static
  super switch test this throw true try typeof undefined v var void while with yield`.split(/\s+/),
);

function toJson(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

const settings = {
  compilerOptions: {
    target: 'es2024',
    lib: ['es2024'],
    module: 'nodenext',
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
    rewriteRelativeImportExtensions: true,
    skipLibCheck: true,
    noEmit: true,
  },
  include: ['src', 'test'],
};

const buildSettings = {
  extends: './tsconfig.json',
  compilerOptions: { noEmit: false, declaration: true, rootDir: 'src', outDir: 'dist' },
  include: ['src'],
};
