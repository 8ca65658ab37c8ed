performance.mark('own service');
self.addEventListener('install', () => self.skipWaiting());
