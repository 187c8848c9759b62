/** A package to create. */
export interface NewPackage {
  /** The npm name, with its scope. */
  readonly packageName: string;
  /** The name of the pack or plugin. */
  readonly name: string;
  /** The version of this Holdfast. */
  readonly version: string;
}

export interface PackageParts {
  readonly kind: 'pack' | 'plugin';
  readonly description: string;
  readonly scripts: Readonly<Record<string, string>>;
  /** Version ranges by name. */
  readonly dependencies: Readonly<Record<string, string>>;
  /** Holdfast packages that only its tests need. */
  readonly devDependencies: readonly string[];
}

/** The files of every package, by path: written in TypeScript, published as JavaScript with types. */
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
    // Lets `holdfast plugins` find it; it is not loaded because of this.
    holdfast: kind,
    // npm publishes scoped packages as private by default.
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

/** Before 1.0 a minor version may break; the template was tested with the version that wrote it. */
export function toRange(version: string): string {
  return `>=${version} <1`;
}

/** `git-safety` as an identifier: `gitSafety`. */
export function toConstantName(name: string): string {
  const [first = '', ...rest] = name.split('-').filter((word) => word !== '');
  const joined = [first, ...rest.map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`)].join('');
  // A leading digit or a reserved word is not a valid identifier.
  return /^\d/.test(joined) || reservedWords.has(joined)
    ? `the${joined.slice(0, 1).toUpperCase()}${joined.slice(1)}`
    : joined;
}

// Reserved in strict mode, or used by the template itself.
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
