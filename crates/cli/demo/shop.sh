# What a customer pays after ten per cent off.
price=$1
echo $(( price * 10 / 100 ))
