model Pump
  model Inner
  end Iner;
end Pumpe;
