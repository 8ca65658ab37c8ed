// Throws at load.
performance.mark('case');

throw new RangeError('thrown at load');
