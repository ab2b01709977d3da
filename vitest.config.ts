import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    environment: 'node',
    include: ['test/**/*.test.{ts,tsx}'],
    globalSetup: ['test/support/build.setup.ts'],
    setupFiles: ['test/support/setup.ts'],
    // Tests start real processes: a worker a core, and a process of its own for each, so that no handle is shared.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    teardownTimeout: 30_000,
    retry: 0,
    reporters: ['default', './test/support/closing-line.reporter.ts'],
  },
});
