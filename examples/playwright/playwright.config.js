import { defineConfig } from '@playwright/test';

const address = 'http://localhost:5188/';

export default defineConfig({
  testMatch: '*.spec.js',
  outputDir: './test-results',
  webServer: { command: 'npx vite ../app --port 5188 --strictPort', url: address },
  use: {
    baseURL: address,
    vfscope: { attach: 'always' }, // by default: where a test fails
  },
  // browsers that are installed; without these paths, Playwright's own
  projects: [
    { name: 'chromium', use: { launchOptions: { executablePath: process.env.CHROMIUM } } },
    {
      name: 'firefox',
      use: {
        browserName: 'firefox',
        channel: 'moz-firefox',
        launchOptions: { executablePath: process.env.FIREFOX },
      },
    },
  ],
});
