# 200 less ten per cent is 180.
got=$(sh shop.sh 200)
if [ "$got" = 180 ]; then
  echo "ok: 200 becomes $got"
else
  echo "FAIL: 200 becomes $got, not 180"
  exit 1
fi
