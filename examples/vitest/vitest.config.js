import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';
import app from '../app/vite.config.js';

export default defineConfig({
  ...app,
  server: { fs: { allow: ['..'] } },
  test: {
    include: ['*.test.js'],
    setupFiles: ['vfscope/vitest'], // the first of them
    browser: {
      enabled: true,
      headless: true,
      provider: playwright({ launchOptions: { executablePath: process.env.CHROMIUM } }),
      instances: [{ browser: 'chromium' }],
    },
  },
});
