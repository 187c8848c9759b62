// Processes that tests start import bundled sources, built by `programs.ts`; the tests themselves import through Vitest.
process.env['NODE_OPTIONS'] = `--import=${process.env['HOLDFAST_SOURCES']}`;
