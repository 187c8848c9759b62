/** What `npm run works-with` installs and runs, by its name and in the order of the table of `apps/docs/guide/status.md`. */
export const versions = {
  Zod: ['4.6.7'],
  ArkType: ['2.2.9'],
  valibot: ['1.5.0'],
  'zod/mini': ['4.6.7'],
  TypeScript: ['5.9.3', '6.0.3', '7.0.2'],
  'Node.js': ['22.18.0', '24.21.0'],
  Bun: ['1.4.5'],
  Deno: ['2.9.6'],
  Vite: ['8.3.8'],
  'Next.js': ['16.4.6'],
  workerd: ['1.20261117.1'],
} as const;
