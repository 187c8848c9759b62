/** Commands that publish to users, a registry, a server, or a shared repository. */
export const knownReleases: readonly string[] = [
  ...['npm', 'pnpm', 'yarn', 'yarn npm', 'bun', 'cargo', 'changeset', 'wrangler'].map((name) => `${name} publish`),
  ...['npm run', 'pnpm', 'pnpm run', 'yarn', 'yarn run', 'bun run', 'make', 'just', 'task'].flatMap((name) =>
    ['deploy', 'release', 'publish'].map((script) => `${name} ${script}`),
  ),
  ...['firebase', 'fly', 'flyctl', 'netlify', 'serverless', 'vercel', 'wrangler', 'mvn', 'gcloud app'].map(
    (name) => `${name} deploy`,
  ),
  ...['git push', 'docker push', 'podman push', 'gem push', 'twine upload', 'uv publish', 'poetry publish'],
  ...['gh release create', 'goreleaser release', 'semantic-release', 'kubectl apply', 'terraform apply'],
  ...['helm install', 'helm upgrade', 'docker stack deploy', 'dotnet nuget push'],
];

/** Commands that check the work and fail on problems. */
export const knownChecks: readonly string[] = [
  ...[
    'npm',
    'pnpm',
    'yarn',
    'bun',
    'deno',
    'cargo',
    'go',
    'make',
    'just',
    'task',
    'mvn',
    'gradle',
    './gradlew',
    'dotnet',
    'rake',
  ].map((name) => `${name} test`),
  ...['npm run', 'pnpm run', 'yarn run', 'bun run'].flatMap((name) =>
    ['test', 'check'].map((script) => `${name} ${script}`),
  ),
  ...['npm t', 'make check', 'just check', 'mvn verify', 'gradle check', './gradlew check', 'cargo nextest run'],
  ...['pytest', 'python -m pytest', 'python3 -m pytest', 'python -m unittest', 'uv run pytest', 'poetry run pytest'],
  ...['tox', 'nox', 'jest', 'npx jest', 'vitest run', 'npx vitest run', 'bundle exec rspec', 'phpunit', 'ctest'],
];

/** Options with which a check tests nothing, or ignores failures. */
export const idleOptions: ReadonlySet<string> = new Set([
  ...['-h', '--help', '-v', '--version', '-n', '--dry-run', '--just-print', '--list', '--list-tests', '--listTests'],
  ...['--collect-only', '--co', '--if-present', '--passWithNoTests', '--no-run', '-l', '-i', '-k', '--keep-going'],
  ...['-DskipTests', '--ignore-scripts'],
]);
