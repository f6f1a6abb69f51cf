/** Numbers, money, times and durations, in the reader's language and the installation's time zone. */
export function createFormat(language, timezone) {
  const locale = language === 'zh' ? 'zh-CN' : 'en-GB';
  const zone = knownZone(timezone);
  const integer = new Intl.NumberFormat(locale);
  const clock = new Intl.DateTimeFormat(locale, {
    timeZone: zone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  const full = new Intl.DateTimeFormat(locale, {
    timeZone: zone,
    month: 'numeric',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  });
  const dayAndClock = new Intl.DateTimeFormat(locale, {
    timeZone: zone,
    month: 'numeric',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  const yuan = (micros) => decimal(micros, 1e6, locale, Math.abs(micros) > 0 && Math.abs(micros) < 10_000 ? 4 : 2);
  return {
    count: (value) => integer.format(value ?? 0),
    yuan: (micros) => `¥${yuan(micros ?? 0)}`,
    sum: (micros, currency) =>
      currency.startsWith('credit:')
        ? `${decimal(micros, 1e6, locale, 0)} ${language === 'zh' ? '积分' : 'credits'}`
        : `${decimal(micros, 1e6, locale, 2)} ${currency}`,
    clock: (at) => clock.format(at),
    full: (at) => full.format(at),
    dayAndClock: (at) => dayAndClock.format(at),
    duration: (ms) => duration(ms, language),
    percent: (part, whole) => (whole === 0 ? '–' : `${Math.round((part / whole) * 1000) / 10}%`),
    bytes: (value) => (value >= 1e9 ? `${decimal(value, 1e9, locale, 1)} GB` : `${decimal(value, 1e6, locale, 0)} MB`),
  };
}

function knownZone(timezone) {
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone });
    return timezone;
  } catch {
    return 'Asia/Shanghai';
  }
}

function decimal(value, unit, locale, digits) {
  return new Intl.NumberFormat(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(
    value / unit,
  );
}

/** `8 秒`, `3 分 05 秒`, `2 小时 10 分`, `3 天`. */
export function duration(ms, language) {
  if (ms === null || ms === undefined || !Number.isFinite(ms)) return '–';
  const seconds = Math.max(0, Math.round(ms / 1000));
  const [d, hr, min, sec, milli] =
    language === 'zh' ? [' 天', ' 小时', ' 分', ' 秒', ' 毫秒'] : [' d', ' h', ' min', ' s', ' ms'];
  if (ms > 0 && ms < 100) return `${Math.round(ms)}${milli}`;
  if (ms < 10_000 && ms % 1000 !== 0 && ms > 0) return `${(ms / 1000).toFixed(1)}${sec}`;
  if (seconds < 60) return `${seconds}${sec}`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60)
    return seconds % 60 === 0
      ? `${minutes}${language === 'zh' ? ' 分钟' : min}`
      : `${minutes}${min} ${seconds % 60}${sec}`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours}${hr}` : `${hours}${hr} ${minutes % 60}${min}`;
  return `${Math.floor(hours / 24)}${d}`;
}
