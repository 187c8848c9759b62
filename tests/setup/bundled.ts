// What tests start imports our sources bundled, as `programs.ts` has made them; the tests themselves do not: Vitest imports for them.
process.env['NODE_OPTIONS'] = `--import=${process.env['HOLDFAST_SOURCES']}`;
